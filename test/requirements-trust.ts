/** What the hub promises about approvals and about its own state. Part of `requirements`. */
export const trustRequirements = {
  'trust:ask':
    'A server starts only after the operator approved what it would start or contact; the others work meanwhile.',
  'trust:changed': 'A changed server goes on as approved until its change is approved; a removed one stops at once.',
  'trust:rights': 'While a change of rights waits, an agent has only what the approved and the new version both allow.',
  'trust:quiet': 'Formatting, another branch that was approved, a rotated secret and a git worktree ask nothing.',
  'trust:latest':
    'On a branch, only the version of a server or of the rules that was approved last there counts; an earlier one waits.',
  'trust:worktree':
    'Rules that nobody approved are never in force beside approved servers, whatever an agent writes where git names the main checkout.',
  'trust:openings':
    'Settings of a repository that open something count only once they are approved; its rules only restrict before.',
  'trust:files': 'The content of workspace files that a command names is approved with it and checked at each start.',
  'trust:shown':
    'Before you approve a server you see everything it would start or contact, which variables it gets, and whether it runs code of the workspace.',
  'trust:guarded':
    'The runners npx, npm exec and python -m take neither settings nor code from the workspace unless that was approved.',
  'trust:acts':
    'What a command of the operator writes is approved by that act, item by item, and nothing that waited before.',
  'trust:all': 'Folders under trust.paths need no question, and QM_TRUST pins exactly what is on disk.',
  'state:outside':
    'The hub keeps its state outside the workspace, in a folder for its owner alone, and notices a moved or replaced workspace.',
  'state:unreachable':
    "A server whose arguments, variables or working folder reach the hub's state, the user's settings or keys is invalid unless allowPaths lists the folder.",
  'state:earlier-version':
    'State that an earlier version kept in the workspace is moved out; tokens wait for the operator, keys are always new.',
  'state:foreign-ignored':
    'Tokens, keys and locks that came with a repository or an archive are not used, and are reported.',
  'state:backup':
    'A backup is written where agents do not read it, and one that was changed is not restored without an explicit word.',
  'state:restore':
    'A restore that is interrupted at any step leaves the state before it or the whole backup, and the next start finishes it.',
  'state:one-hub': 'One hub serves a workspace, even after its lock or all of its state was deleted.',
  'trust:full-disk':
    'An approval that cannot be taken back on disk is taken back in the running hub, and the operator reads that.',
  'trust:search-path':
    'Folders of the workspace on the PATH of the hub are not searched, by the hub or by its servers.',
  'trust:start-race': 'A program whose files change while it starts is ended, and its server reports why.',
} as const satisfies Record<string, string>;
