/** Readable on a phone and on a desk, in light and dark. */
export const style = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --back: #f6f8fa; --card: #fff;
  --go: #1a7f37; --stop: #b3261e; --write: #9a6700; --gone: #ffebe9; --added: #e6ffec; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b3; --line: #3d444d; --back: #0d1117;
  --card: #161b22; --go: #2ea043; --stop: #f2827b; --write: #e3b341; --gone: #4a1d1c; --added: #12361f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 720px; margin: 0 auto; padding: 20px 16px 48px; }
h1 { font-size: 1.35rem; line-height: 1.3; margin: 4px 0 12px; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 24px 0 8px; }
p { margin: 8px 0; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; }
.risk { display: inline-block; border: 1px solid currentColor; border-radius: 12px; padding: 0 10px; font-size: .875rem; }
.risk.write { color: var(--write); } .risk.destructive { color: var(--stop); } .risk.read { color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 14px/1.5 ui-monospace, monospace; }
pre span { display: block; } .gone { background: var(--gone); } .added { background: var(--added); }
ol { margin: 0; padding-left: 20px; font: 14px/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
form { margin: 12px 0 0; }
label { display: block; margin-bottom: 4px; }
textarea { width: 100%; min-height: 72px; padding: 8px; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: 6px; }
button { width: 100%; min-height: 48px; margin-top: 8px; font: inherit; font-weight: 600; color: inherit;
  background: var(--card); border: 1px solid var(--line); border-radius: 6px; cursor: pointer; }
button.go { color: #fff; background: #1a7f37; border-color: #1a7f37; }
button.stop { color: var(--stop); border-color: currentColor; }
button:focus-visible, textarea:focus-visible { outline: 3px solid #4493f8; outline-offset: 2px; }
@media (max-width: 480px) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 8px; } }
@media (min-width: 720px) { button { width: auto; padding: 0 24px; } }
`;
