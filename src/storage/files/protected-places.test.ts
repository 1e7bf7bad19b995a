import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { protectedPlaces } from './protected-places.ts';

test(verifies('state:unreachable', 'the state comes first, and the settings of the user are protected'), () => {
  const home = '/nonexistent/home';
  const places = protectedPlaces({ HOME: home, XDG_CONFIG_HOME: '/nonexistent/config' });
  expect(places[0]).toBe(`${home}/.local/state/quartermaster`);
  expect(places).toContain('/nonexistent/config/quartermaster');
  expect(places).toContain(`${home}/.config/quartermaster`);
  for (const name of [
    '.ssh',
    '.npmrc',
    '.git-credentials',
    '.local/share/keyrings',
    '.codex/auth.json',
    '.claude.json',
  ])
    expect(places).toContain(`${home}/${name}`);
  expect(protectedPlaces({ HOME: home })).toContain(`${home}/.config/quartermaster`);
});
