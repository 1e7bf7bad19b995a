/** Tokens of the agents, issued and revoked by the command line while the hub runs. */
export function createTokens(hub) {
  const current = new Map();
  const revoked = [];

  /** A hub that is busy for longer than the command waits says that the same may succeed later. */
  async function ask(...args) {
    for (let tries = 1; ; tries++) {
      try {
        return await hub.qm('token', ...args);
      } catch (error) {
        // What was not answered in time may have been done all the same.
        if (tries > 1 && String(error.stderr).includes('TOKEN_UNKNOWN')) return '';
        if (tries === 5 || !String(error.stderr).includes('STATE_LOCKED')) throw error;
      }
    }
  }

  async function issue(agent, slot = agent) {
    const { token, id } = JSON.parse(await ask('issue', '--agent', agent));
    current.set(slot, { token, id, agent, uses: 0 });
    return current.get(slot);
  }
  return {
    revoked,
    issue,
    of: (slot) => current.get(slot),
    /** Another token for the agent, then the end of the one it had. */
    async rotate(agent, { onReplaced, slot = agent }) {
      const old = current.get(slot);
      await issue(agent, slot);
      onReplaced?.(old);
      await ask('revoke', old.id);
      revoked.push(old);
    },
  };
}
