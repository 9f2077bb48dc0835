/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The behaviour of a plot's page: plot/page.html with the data of plot/html.c. It loads no other file.
 */
const D = JSON.parse(document.getElementById('data').textContent), N = D.cells.length;
/* Columns of cells, as plot/html.c writes them. */
const C = Object.fromEntries(['segment', 'page', 'bin', 'kind', 'thread', 'count', 'site', 'ts', 'addr'].map(
	(name, nr) => [name, D.cells.map(cell => cell[nr])]));
const $ = id => document.getElementById(id);
const canvas = $('plot'), under = $('under'), g = canvas.getContext('2d'), u = under.getContext('2d');
/* All spots: drawn once, painted often. */
const layer = document.createElement('canvas').getContext('2d');
const GAP = 20, AXIS = 30, HEADING = 20, LABEL = 10, DOT = 4, LEVELS = D.colors.hot.length;
const number = n => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ',');
const seconds = ns => (ns / 1e9).toFixed(9) + ' s';
const clamp = (n, from, to) => Math.max(from, Math.min(n, to));
const isDark = () => document.documentElement.classList.contains('dark');

/* "12.3M", if 12,345,678 does not fit. */
function short(n)
{
	const power = n < 9999.5 ? 0 : Math.floor(Math.log10(n) / 3 + 1e-9);
	return power ? (n / 1000 ** power).toPrecision(3) + 'kMGT'[power - 1] : number(n);
}

/*
 * The state: the visible time (in bins) and addresses (of all bands, 0 to 1), the colours, the mouse in the window, and
 * whether the wheel zooms.
 */
let view = { x0: 0, x1: D.bins, y0: 0, y1: 1 }, by = D.by, hidden = new Set(), mouse = null, taken = false;
let plan, spots = [];

/* ---- colours ---- */

/* The keys of colours, and the number of each cell's key. */
let keys = [], keyNumbers = [];

function makeKeys()
{
	const numbers = new Map();
	keys = [];
	keyNumbers = new Uint8Array(N);
	for (let i = 0; i < N; i++) {
		const key = keyOf(i);
		if (!numbers.has(key))
			numbers.set(key, keys.push(key) - 1);
		keyNumbers[i] = numbers.get(key);
	}
}

const numberOf = {
	access: i => C.kind[i] & 3,
	class: i => C.kind[i] & 16 ? 3 : C.kind[i] >> 2 & 3,
	thread: i => D.ranks[C.thread[i]],
	heat: () => '',
};

function keyOf(i)
{
	return C.kind[i] & 32 ? 'sampled' : by + numberOf[by](i);
}

function keyText(key)
{
	const fixed = { sampled: 'sampled accesses (not faults)', heat: 'faults', thread10: 'other threads' };
	const nr = +key.replace(/\D+/, '');
	return fixed[key] || (by === 'thread' ? D.threads[D.ranks.indexOf(nr)] : D[by][nr]);
}

function keyColor(key)
{
	const fixed = { sampled: D.colors.sampled, heat: D.colors.hot[4] };
	return fixed[key] || D.colors[by][+key.replace(/\D+/, '')];
}

function makeLegend()
{
	const sums = new Map(), box = $('legend');
	for (let i = 0; i < N; i++)
		sums.set(keys[keyNumbers[i]], (sums.get(keys[keyNumbers[i]]) || 0) + C.count[i]);
	box.textContent = '';
	for (const key of [...sums.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))) {
		const button = document.createElement('button'), mark = document.createElement('i');
		mark.style.background = keyColor(key);
		button.append(mark, keyText(key) + ': ' + number(sums.get(key)));
		button.dataset.key = key;
		button.setAttribute('aria-pressed', !hidden.has(key));
		button.onclick = () => {
			hidden.has(key) ? hidden.delete(key) : hidden.add(key);
			button.setAttribute('aria-pressed', !hidden.has(key));
			draw();
		};
		box.append(button, ' ');
	}
	return sums;
}

/* Of a heat map, as pfs_plot_level() and pfs_plot_level_from() have them. */
function levelFrom(level, most)
{
	return Math.max(Math.ceil(most ** (level / (LEVELS - 1)) - 1e-9), level + 1);
}

function levelOf(count, most)
{
	let level = 0;
	while (level + 1 < LEVELS && count >= levelFrom(level + 1, most))
		level++;
	return level;
}

/* On a dark background the most is bright, and the least is still visible. */
function heatColor(key, level)
{
	const colors = key === 'sampled' ? D.colors.seen : D.colors.hot;
	return isDark() ? 'color-mix(in srgb, ' + colors[LEVELS - 1 - level] + ' 80%, white)' : colors[level];
}

/* style: a colour, or a class. */
function swatch(box, style, words)
{
	const mark = document.createElement('i');
	if (/^[a-z]+$/.test(style))
		mark.className = style;
	else
		mark.style.background = style;
	box.append(mark, words);
}

/* The scale of a heat map at the present zoom. */
function makeScale(most)
{
	const box = $('scale');
	box.textContent = '';
	for (const key of Object.keys(most)) {
		box.append(key === 'heat' ? 'faults in a place, at least:' : ' accesses seen, at least:');
		for (let level = 0; level < LEVELS && levelFrom(level, most[key]) <= most[key]; level++)
			swatch(box, heatColor(key, level), number(levelFrom(level, most[key])));
	}
}

/* ---- the places of segments and folds, in bands that are 1 high ---- */

/* Folds of each band: between segments of which the later does not begin where the other ends. */
function findFolds()
{
	const folds = D.bands.map(() => []), order = D.segments.map((s, i) => i);
	order.sort((a, b) => D.segments[a][0] - D.segments[b][0] || D.segments[a][1] - D.segments[b][1]);
	for (let i = 1; i < order.length; i++) {
		const below = D.segments[order[i - 1]], s = D.segments[order[i]];
		if (below[0] === s[0] && BigInt(below[4]) + BigInt(below[3]) !== BigInt(s[4]))
			folds[s[0]].push((below[1] + below[2] + s[1]) / 2);
	}
	return folds;
}

const folds = findFolds();
/* "7f00-8f00", by segment. */
const ranges = [];
D.ranges.forEach(([first, range], i) => {
	const end = i + 1 < D.ranges.length ? D.ranges[i + 1][0] : D.segments.length;
	for (let k = first; k < end; k++)
		ranges[k] = range;
});
/* An anonymous region is named by its first address. */
const labels = D.bands.map((band, i) => {
	const nr = band.label === 'anon' ? D.segments.findIndex(s => s[0] === i) : -1;
	return nr >= 0 && ranges[nr] ? 'anon ' + ranges[nr].replace(/-.*/, '') : band.label;
});

/* ---- hover ---- */

/* The spot at or near a point; of several the one whose middle is nearest. */
function spotAt(x, y)
{
	let best = null, least = 64;
	for (const s of spots) {
		const dx = Math.abs(s.x - x), dy = Math.abs(s.y - y);
		const beside = Math.max(0, dx - s.w / 2) ** 2 + Math.max(0, dy - s.h / 2) ** 2;
		const d = beside + (s.w ? (dx ** 2 + dy ** 2) * 1e-6 : 0);
		if (d <= least) {
			best = s;
			least = d;
		}
	}
	return best;
}

/* "libc.so.6 memcpy+0x1a"; where no function is known "libc.so.6+0x1a2b3c (another file now)". */
function siteText(nr)
{
	const [file, symbol, hex] = D.sites[nr], [name, between, why] = D.files[file];
	if (!nr)
		return 'unknown';
	if (symbol > 0)
		return name + ' ' + D.symbols[symbol] + '+' + hex;
	return name + between + hex + (symbol < 0 ? ' (symbol omitted: too many)' :
		why ? ' (' + why + ')' : '');
}

function spotText(s)
{
	const i = s.cell, seg = D.segments[C.segment[i]], kind = C.kind[i];
	const addr = (BigInt(seg[4]) + BigInt(C.page[i]) << BigInt(D.unit_shift)) + BigInt(C.addr[i]);
	const what = kind & 32 ? 'sampled access' : 'fault';
	const lines = [
		(s.count > 1 ? number(s.count) + ' of them; the first: ' : '') + what +
			', ' + D.access[kind & 3] +
			(kind >> 2 & 3 ? ', ' + D.class[kind >> 2 & 3] : '') +
			(kind & 16 ? ', ' + D.class[3] : ''),
		'address      0x' + addr.toString(16),
		'region       ' + (D.names[seg[5]] + ' ' + ranges[C.segment[i]]).trim(),
		'instruction  ' + siteText(C.site[i]),
		'thread       ' + D.threads[C.thread[i]],
		'time         ' + seconds(D.from_ns + timeOf(i)),
		'process      ' + D.images[D.image_of[seg[5]]],
	];
	return lines.join('\n');
}

function hover(x, y)
{
	const s = spotAt(x, y), tip = $('tip');
	tip.style.display = s ? 'block' : 'none';
	if (s)
		tip.textContent = spotText(s);
	return tip;
}

/* Shows the spot under the mouse, beside it and inside the window. */
function showTip()
{
	const box = canvas.getBoundingClientRect(), root = document.documentElement;
	const tip = hover(mouse.x - box.left, mouse.y - box.top);
	tip.style.left = tip.style.top = '0';
	const below = mouse.y + 14, fits = below + tip.offsetHeight + 8 <= root.clientHeight;
	tip.style.left = clamp(mouse.x + 14, 0, Math.max(0, root.clientWidth - tip.offsetWidth - 8)) + 'px';
	tip.style.top = Math.max(0, fits ? below : mouse.y - tip.offsetHeight - 14) + 'px';
}

function leave()
{
	mouse = null;
	$('tip').style.display = 'none';
}

/* ---- zoom and move ---- */

function limit(from, to, end, least)
{
	const size = Math.min(end, Math.max(least, to - from)), start = Math.min(Math.max(0, from), end - size);
	return [start, start + size];
}

function zoom(axis, factor, at, end, least)
{
	const from = axis + 0, to = axis + 1;
	[view[from], view[to]] = limit(at - (at - view[from]) * factor, at + (view[to] - at) * factor, end, least);
	draw();
}

const zoomTime = (factor, at) => zoom('x', factor, at, D.bins, Math.min(D.bins, 0.25));
const zoomAddresses = (factor, at) => zoom('y', factor, at, 1, 0.002);

/* False: there is nothing more on that side. */
function move(dx, dy)
{
	const { x0, y0 } = view;
	[view.x0, view.x1] = limit(view.x0 + dx, view.x1 + dx, D.bins, 0);
	[view.y0, view.y1] = limit(view.y0 + dy, view.y1 + dy, 1, 0);
	draw();
	return view.x0 !== x0 || view.y0 !== y0;
}

function reset()
{
	view = { x0: 0, x1: D.bins, y0: 0, y1: 1 };
	draw();
}

/* The wheel scrolls the page until the user has clicked into the picture. */
function take(yes)
{
	taken = yes;
	$('picture').classList.toggle('taken', yes);
}

let drag = null;
const picture = $('picture');
picture.onwheel = e => {
	const factor = (e.deltaY || e.deltaX) > 0 ? 1.25 : 0.8, box = canvas.getBoundingClientRect();
	if (!taken && !e.ctrlKey)
		return;
	e.preventDefault();
	if (e.shiftKey)
		zoomAddresses(factor, fromY(clamp(e.clientY - box.top, 0, plan.shown)));
	else
		zoomTime(factor, fromX(clamp(e.clientX - box.left, plan.left, plan.right)));
};
picture.onpointerdown = e => {
	drag = { x: e.clientX, y: e.clientY };
	picture.setPointerCapture(e.pointerId);
	take(e.pointerType === 'mouse');
};
picture.onpointerup = picture.onpointercancel = () => { drag = null; };
picture.onpointerleave = () => {
	leave();
	take(false);
};
picture.onpointermove = e => {
	if (drag) {
		const { x, y } = drag;
		drag = { x: e.clientX, y: e.clientY };
		mouse = null;
		move((x - e.clientX) / pixelsOfBin(), (y - e.clientY) / plan.shown * (view.y1 - view.y0));
	}
	if (e.clientY >= under.getBoundingClientRect().top)
		return leave();
	mouse = { x: e.clientX, y: e.clientY };
	showTip();
};
/* Wherever the focus is. A key without effect is left to the page. */
document.onkeydown = e => {
	const step = (view.x1 - view.x0) / 10, up = (view.y1 - view.y0) / 10, middle = (view.x0 + view.x1) / 2;
	const keys = {
		'+': () => zoomTime(0.8, middle), '=': () => zoomTime(0.8, middle),
		'-': () => zoomTime(1.25, middle),
		ArrowLeft: () => move(-step, 0), ArrowRight: () => move(step, 0), ArrowUp: () => move(0, -up),
		ArrowDown: () => move(0, up), '0': reset, Escape: () => take(false),
	};
	if (keys[e.key] && !e.ctrlKey && !e.altKey && !e.metaKey && keys[e.key]() !== false)
		e.preventDefault();
};

/* ---- begin ---- */

function setBy(what)
{
	by = what;
	hidden.clear();
	for (const button of document.querySelectorAll('[data-by]'))
		button.setAttribute('aria-pressed', button.dataset.by === by);
	makeKeys();
	const sums = makeLegend();
	$('scale').textContent = '';
	draw();
	return sums;
}

for (const button of document.querySelectorAll('[data-by]'))
	button.onclick = () => setBy(button.dataset.by);
$('reset').onclick = reset;
$('dark').onclick = () => {
	document.documentElement.classList.toggle('dark');
	draw();
};
if (matchMedia('(prefers-color-scheme: dark)').matches || location.hash === '#dark')
	document.documentElement.classList.add('dark');
$('title').textContent = D.title;
document.title = D.title ? D.title + ' - pfscope plot' : 'pfscope plot';
$('sum').textContent = D.sum;
$('notes').textContent = D.notes;
$('what').textContent = 'A point covers ' + number(D.bin_ns) + ' ns by ' + number(2 ** D.unit_shift) +
	' bytes, or several such cells; a single touch is drawn at its own time and address. Zoomed in, ' +
	'several touches are a faint area: they lie anywhere in it. Addresses grow upwards, gaps are folded. ' +
	D.resident_text + '.';
if (folds.some(f => f.length))
	swatch($('marks'), 'fold', 'folded: nothing touched ');
if (D.losses.length)
	swatch($('marks'), 'lost', 'events lost' + (D.unobserved.length ? ' ' : ''));
if (D.unobserved.length)
	swatch($('marks'), 'hatched', D.unobserved_text);
let painting = false;
onscroll = () => {
	if (!painting)
		requestAnimationFrame(() => {
			painting = false;
			paint();
		});
	painting = true;
};
onresize = draw;
new ResizeObserver(() => {
	if (document.documentElement.clientWidth !== plan.width)
		draw();
}).observe(document.documentElement);
setBy(by);
