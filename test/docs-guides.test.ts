import { test } from 'vitest';
import { readPages, scenesToPlay } from './support/doc-pages.ts';
import { playScene } from './support/doc-scene.ts';

test.each(scenesToPlay(readPages(), true))('what is shown from %s on is so', { timeout: 180_000 }, (_name, scene) =>
  playScene(scene),
);
