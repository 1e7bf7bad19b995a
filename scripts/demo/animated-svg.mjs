/**
 * @typedef {object} Shot A part of a scene: a command that is typed, or lines that appear.
 * @property {number} at Seconds from the start of the scene.
 * @property {number} row
 * @property {string} [typed]
 * @property {import('./terminal-screen.mjs').Run[][]} [lines]
 *
 * @typedef {{ seconds: number, shots: Shot[] }} Scene The screen is cleared between scenes.
 */

const [charWidth, lineHeight, margin, bar] = [8.4, 18, 16, 30];
/** Characters a second. */
const typing = 48;
/** Seconds between a command and its output. */
const pause = 0.25;

/**
 * The session as an image that plays by itself and has no script: its text is text, and it follows the colours that the
 * reader prefers.
 * @param {Scene[]} scenes
 * @param {{ columns: number, rows: number, title: string }} screen
 */
export function animatedSvg(scenes, { columns, rows, title }) {
  const total = scenes.reduce((sum, { seconds }) => sum + seconds, 0);
  const [width, height] = [Math.ceil(columns * charWidth + 2 * margin), bar + rows * lineHeight + 2 * margin];
  const rules = [];
  let begin = 0;
  const groups = scenes.map(({ seconds, shots }, index) => {
    const end = begin + seconds;
    const drawn = shots.map((shot) => drawShot(shot, { from: begin + shot.at, to: end, total, rules }));
    begin = end;
    // Without animations, the last scene is the picture.
    return `<g${index === scenes.length - 1 ? '' : ' class="early"'}>${drawn.join('\n')}</g>`;
  });
  const commands = scenes.flatMap(({ shots }) => shots.flatMap(({ typed }) => typed ?? []));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" xml:space="preserve">
<title>${xml(title)}</title>
<desc>${xml(commands.map((command) => `$ ${command}`).join('\n'))}</desc>
<style>
${look}
${rules.join('\n')}
</style>
<rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9"/>
<g class="dots"><circle cx="20" cy="18" r="5"/><circle cx="37" cy="18" r="5"/><circle cx="54" cy="18" r="5"/></g>
<clipPath id="inside"><rect x="2" y="2" width="${width - 4}" height="${height - 4}"/></clipPath>
<g clip-path="url(#inside)">
${groups.join('\n')}
</g>
</svg>
`;
}

const look = `text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1c2430; white-space: pre; }
.window, .cover { fill: #fbfcfe; } .window { stroke: #c4ccd8; } .dots { fill: #c4ccd8; } .caret { fill: #5a6577; }
.prompt, .cyan { fill: #0b62b8; } .bold { font-weight: 600; } .dim { fill: #5a6577; }
.red { fill: #b42318; } .green { fill: #17702f; } .yellow { fill: #875800; } .early { opacity: 0; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .window, .cover { fill: #0f141b; } .window { stroke: #39424f; } .dots { fill: #39424f; } .caret { fill: #9aa6b8; }
.prompt, .cyan { fill: #79b8ff; } .dim { fill: #9aa6b8; } .red { fill: #ff8f85; } .green { fill: #56d364; } .yellow { fill: #e3b341; }
}
@media (prefers-reduced-motion: no-preference) { .early { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; } .cover, .caret { display: none; } }`;

function drawShot({ row, typed, lines }, { from, to, total, rules }) {
  const name = `s${rules.length}`;
  const percent = (seconds) => `${((100 * seconds) / total).toFixed(2)}%`;
  const shown = from === 0 ? [`0% { opacity: 1; }`] : [`0% { opacity: 0; }`, `${percent(from)} { opacity: 1; }`];
  if (to < total) shown.push(`${percent(to)} { opacity: 0; }`);
  rules.push(`@keyframes ${name} { ${shown.join(' ')} } .${name} { animation: ${name} ${total}s step-end infinite; }`);
  if (lines !== undefined) return `<g class="${name}">${drawLines(lines, row)}</g>`;
  const text = typed ?? '';
  const [x, y] = [margin + 2 * charWidth, top(row)];
  const moved = (text.length * charWidth).toFixed(1);
  const done = from + text.length / typing;
  // The text is there from the start; a cover in the colour of the window moves off it, with the caret at its edge.
  rules.push(
    `@keyframes ${name}c { 0%, ${percent(from)} { transform: none; opacity: 1; animation-timing-function: steps(${text.length}); } ` +
      `${percent(done)} { transform: translateX(${moved}px); opacity: 1; animation-timing-function: step-end; } ` +
      `${percent(done + pause)}, 100% { opacity: 0; } } .${name}c { animation: ${name}c ${total}s infinite; }`,
  );
  return (
    `<g class="${name}">${drawRun({ column: 0, text: '$', style: 'prompt' }, row)}` +
    `<text class="typed" x="${x.toFixed(1)}" y="${y}" textLength="${moved}">${xml(text)}</text>` +
    `<g class="${name}c"><rect class="cover" x="${x.toFixed(1)}" y="${y - 14}" width="${Number(moved) + 2}" height="18"/>` +
    `<rect class="caret" x="${x.toFixed(1)}" y="${y - 12}" width="8" height="15"/></g></g>`
  );
}

function drawLines(lines, row) {
  return lines.map((runs, index) => runs.map((run) => drawRun(run, row + index)).join('')).join('\n');
}

/** At its own place and of its own width, so that columns stay columns in any font. */
function drawRun({ column, text, style }, row) {
  const x = (margin + column * charWidth).toFixed(1);
  const classes = style === '' ? '' : ` class="${style}"`;
  return `<text${classes} x="${x}" y="${top(row)}" textLength="${(text.length * charWidth).toFixed(1)}">${xml(text)}</text>`;
}

function top(row) {
  return bar + margin + row * lineHeight + 13;
}

function xml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Seconds from the first key of a command to its output. */
export function typingTime(command) {
  return command.length / typing + pause;
}
