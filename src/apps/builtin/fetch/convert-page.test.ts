import { Tokenizer } from 'htmlparser2';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { createBoundedText } from './bounded-text.ts';
import { convertPage, sliceChars } from './convert-page.ts';
import { createElementReader, type PageWriter } from './elements.ts';
import { maxElementDepth } from './open-elements.ts';
import { createPageWriter, type Style } from './page-writer.ts';

const base = new URL('https://site.test/docs/page.html');

describe('Markdown', () => {
  test.each([
    ['paragraphs', '<p>One  \n two<p>Three</p>four', 'One two\n\nThree\n\nfour'],
    ['divisions', '<div>a<div>b</div></div><div>c</div>', 'a\nb\nc'],
    ['headings', '<h1>A</h1>text<h3><div>B</div></h3><h2></h2>c', '# A\n\ntext\n\n### B\n\nc'],
    ['marks', 'a<b> bold </b>and <i>it</i> <s>no</s> <b></b><em> </em>z', 'a **bold** and *it* ~~no~~ z'],
    ['marks within marks', '<b>a<strong>b</strong>c <i>d</b>e</i>', '**abc *d***e'],
    ['marks over paragraphs', '<b><p>a</p><p>b</p></b>c', '**a**\n\n**b**\n\nc'],
    ['code', 'Run <code>x  = 1</code>.', 'Run `x = 1`.'],
    ['a link', '<a href="other.html?a=1&amp;b=2">there</a>', '[there](https://site.test/docs/other.html?a=1&b=2)'],
    ['a link without a host', '<a href="//x.test/(a) b">x</a>', '[x](https://x.test/%28a%29%20b)'],
    ['links that lead nowhere', '<a>a</a><a href="#b">b</a><a href="javascript:c">c</a><a href="data:d">d</a>', 'abcd'],
    [
      'a link around blocks',
      '<a href=/x><h3>A</h3><p>b</p></a>',
      '### [A](https://site.test/x)\n\n[b](https://site.test/x)',
    ],
    ['links that nobody closed', '<a href=/x>a<a href=/y>b', '[a](https://site.test/x)[b](https://site.test/y)'],
    [
      'a link around an image',
      '<a href=/x><img src=y alt="Logo"></a><a href=/z><img></a>',
      '[Logo](https://site.test/x)',
    ],
    ['a base', '<base href="https://other.test/a/"><a href=b>c</a>', '[c](https://other.test/a/b)'],
    ['the first base', '<base><base href=x/><base href=y/><a href=b>c</a>', '[c](https://site.test/docs/x/b)'],
    ['no base of another scheme', '<base href=data:x><base href=y/><a href=b>c</a>', '[c](https://site.test/docs/b)'],
    ['a list', '<ul><li>a<li>b<ol><li>c</li><li>d</ol><li>e</ul>f', '- a\n- b\n  1. c\n  2. d\n- e\n\nf'],
    ['an item with paragraphs', '<ol><li><p>a</p><p>b</p></ol>', '1. a\n\n   b'],
    ['a quote', '<blockquote><p>a<p>b</blockquote>c', '> a\n>\n> b\n\nc'],
    ['a quote in a list', '<ul><li><blockquote>a<br>b</blockquote></ul>', '- > a\n  > b'],
    ['preformatted text', '<pre>\n  a\n\n\tb  \n</pre>c', '```\n  a\n\n\tb  \n```\n\nc'],
    ['a language', '<pre><code class="hl language-ts">a &lt; b</code></pre>', '```ts\na < b\n```'],
    ['preformatted text with a fence', '<pre>```\nx</pre>', '~~~~\n```\nx\n~~~~'],
    ['preformatted text in a quote', '<blockquote><pre>a\nb</pre></blockquote>', '> ```\n> a\n> b\n> ```'],
    [
      'a table',
      '<table><tr><th>A<th>B<tr><td>1 | 2<td><b>x</b><br>y</table>z',
      '| A | B |\n| --- | --- |\n| 1 \\| 2 | **x** y |\n\nz',
    ],
    ['a table of one column', '<table><tr><td>a<tr><td>b</table>', 'a\nb'],
    ['a table for looks', '<table><tr><td>a<td><h2>B</h2>c<td>d</table>e', 'a\n\n## B\n\nc\nd\n\ne'],
    [
      'a table in a table',
      '<table><tr><td>a<td><table><tr><td>1<td>2</table>b</table>',
      'a\n\n| 1 | 2 |\n| --- | --- |\n\nb',
    ],
    ['a rule and a break', 'a<br>b<hr>c', 'a\nb\n\n---\n\nc'],
    [
      'what is not shown',
      'a<script>x<p></script><style>y</style><noscript>z</noscript><template><p>t</template><svg><text>s</text></svg><iframe>i</iframe>b',
      'ab',
    ],
    ['a script in a drawing', '<svg><script/>x</svg>after', 'after'],
    ['entities', '&lt;b&gt; &eacute;&#x1F600;&nbsp;&amp;amp; &unknown; &#0;', '<b> é😀 &amp; &unknown; \ufffd'],
    ['tags that nobody opened', '</div></p></b></table></td></li>a</ul></blockquote></pre>b', 'ab'],
    ['what is not a tag', 'a < b && c > d <3 <>', 'a < b && c > d <3 <>'],
    ['nothing', '', ''],
  ])('%s', async (_, html, markdown) => {
    expect((await convert(html, 'markdown')).text).toBe(markdown);
  });

  test('the title stands apart', async () => {
    const { title, text } = await convert('<title> A &amp;\n<b>B </title><p>c');
    expect([title, text]).toEqual(['A & <b>B', 'c']);
  });
});

describe('plain text', () => {
  test.each([
    ['no marks', '<h1>A</h1><p><b>b</b> <a href=/x>c</a> <code>d</code>', 'A\n\nb c d'],
    ['lists', '<ul><li>a<li>b</ul>', '- a\n- b'],
    ['tables', '<table><tr><th>A<th>B<tr><td>1|<td>2</table>', 'A\tB\n1|\t2'],
    ['preformatted text', 'x<pre>  a\n  b</pre>', 'x\n\n  a\n  b'],
    ['quotes and rules', 'a<hr><blockquote>b</blockquote>', 'a\n\nb'],
  ])('%s', async (_, html, text) => {
    expect((await convert(html, 'text')).text).toBe(text);
  });
});

/** Each is repeated until it is a large page. */
const monsters = [
  ...[
    '<div>',
    '<b>',
    '<p>',
    '<a href=x>y',
    '<a href="?',
    '<table>',
    '<table><tr><td>',
    '<tr>',
    '<td>x',
    '<tr><td>x',
    '<ul><li>x',
    '<li>',
  ],
  ...[
    '<blockquote>x',
    '<pre>',
    '<pre>x',
    '\n',
    '<pre>\n',
    '<h1>',
    '<h1>x',
    '<svg>',
    '<svg/>',
    '<template>',
    '<title>',
    '<script>',
    '<style>x',
  ],
  ...[
    '<!--',
    '<!-- x --',
    '<![CDATA[',
    '<?',
    '<!doctype ',
    '&amp;',
    '&',
    '&#',
    '&#x',
    '&#9',
    '&am',
    '<',
    '</',
    '</b>',
    '</div><div>',
    '<b></div>',
  ],
  ...[
    '<a ',
    ' x=y',
    '<a x="',
    "<a x='y' ",
    '<a href=',
    '=',
    '"',
    '<img alt="x">',
    '<br>',
    '<b><i>x</i>',
    '<b><i>x</b>',
    '`',
    '```',
    '|',
    ' ',
    '\t ',
  ],
  ...[
    '<x1><x2><x3>',
    '<form>',
    '<p><table><tr><td></p>',
    '<textarea>',
    '<plaintext>',
    '<math>',
    '<svg><title>',
    '\u0000',
    '\ud800',
    '💥',
  ],
];
const large = 128 * 1024;

describe('a page that is nothing but', () => {
  test.each(monsters)(verifies('builtin:fetch-work', '%j is as much work as it is long'), async (piece) => {
    const works = [large, 2 * large].map((length) => workOf(piece.repeat(Math.ceil(length / piece.length))));
    for (const { events, depth, chars } of works) {
      expect(depth).toBeLessThanOrEqual(maxElementDepth);
      // An element is opened and closed; a tag closes, besides, at most what was opened before.
      expect(events).toBeLessThanOrEqual(3 * chars + maxElementDepth);
    }
    const [once, twice] = works.map(({ events }) => events);
    expect(twice ?? 0).toBeLessThanOrEqual(2 * (once ?? 0) + 2 * maxElementDepth + 8);
  });

  test.each(monsters)('%j gives way in between, and its result has a bound', async (piece) => {
    const html = piece.repeat(Math.ceil(large / piece.length));
    let turns = 0;
    const breathe = async (): Promise<void> => void turns++;
    const limit = 30_000;
    for (const style of ['markdown', 'text'] as const) {
      turns = 0;
      const { text, title, isCut } = await convertPage({ breathe }, html, { style, base, limit, signal: never });
      expect(text.length).toBeLessThanOrEqual(limit);
      expect(title.length).toBeLessThanOrEqual(300);
      if (!isCut) expect(turns).toBe(Math.ceil(html.length / sliceChars));
      else expect(text).toHaveLength(limit);
    }
  });
});

test('a short page with long lines is cut', async () => {
  const long = new URL(`https://site.test/${'x'.repeat(1000)}`);
  const html = `${'<blockquote>'.repeat(200)}${'<a href="?y">z</a><br>'.repeat(10_000)}`;
  const { text, isCut } = await convertPage({ breathe }, html, {
    style: 'markdown',
    base: long,
    limit: 200_000,
    signal: never,
  });
  expect([text.length, isCut]).toEqual([200_000, true]);
  expect(text).toMatch(/^(> ){8}\[z\]/);
});

test('a base that is too long resolves no links', async () => {
  const html = '<a href=x>relative</a> <a href=https://other.test/>absolute</a>';
  for (const start of ['', `<base href=${'y/'.repeat(1020)}>`]) {
    const far = new URL(`https://site.test/${'x'.repeat(start === '' ? 2048 : 10)}/?q#f`);
    const { text } = await convertPage({ breathe }, start + html, {
      style: 'markdown',
      base: far,
      limit: 10_000,
      signal: never,
    });
    expect(text).toBe('relative [absolute](https://other.test/)');
  }
});

test('a cancelled call waits for no page', async () => {
  const leaving = new AbortController();
  let turns = 0;
  const leave = async (): Promise<void> => {
    turns++;
    if (turns === 3) leaving.abort(new Error('gone'));
  };
  const options = { style: 'text', base, limit: large, signal: leaving.signal } as const;
  await expect(convertPage({ breathe: leave }, 'x'.repeat(large), options)).rejects.toThrow('gone');
  expect(turns).toBe(3);
});

const never = new AbortController().signal;
const breathe = async (): Promise<void> => {};

function convert(html: string, style: Style = 'markdown') {
  return convertPage({ breathe }, html, { style, base, limit: 1_000_000, signal: never });
}

/** What a page costs: each event is handled in a few steps that do not depend on the page. */
function workOf(html: string): { events: number; depth: number; chars: number } {
  const page = createPageWriter(createBoundedText(10_000), { style: 'markdown', base, fence: '```' });
  let events = 0;
  let depth = 0;
  let open = 0;
  const counting: PageWriter = {
    open(name, attributes) {
      events++;
      depth = Math.max(depth, ++open);
      page.open(name, attributes);
    },
    close(name) {
      events++;
      open--;
      page.close(name);
    },
    text(text) {
      events++;
      page.text(text);
    },
  };
  const tokenizer = new Tokenizer({}, createElementReader(html, counting));
  for (let at = 0; at < html.length; at += sliceChars) tokenizer.write(html.slice(at, at + sliceChars));
  tokenizer.end();
  expect(open).toBe(0);
  return { events, depth, chars: html.length };
}
