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
const GAP = 20, AXIS = 30, HEADING = 20, LABEL = 10, DOT = 4, MARK = 10, COUNT = 70, THUMB = 96, PAPER = 1000;
const LEVELS = D.themes.light.hot.length, FOUND = 9, LOST = 4;	/* shapes, as plot/theme.h numbers them */
const number = n => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ',');
const seconds = ns => (ns / 1e9).toFixed(9) + ' s';
const clamp = (n, from, to) => Math.max(from, Math.min(n, to));

/* "12.3M", if 12,345,678 does not fit. */
function short(n)
{
	const power = n < 9999.5 ? 0 : Math.floor(Math.log10(n) / 3 + 1e-9);
	return power ? (n / 1000 ** power).toPrecision(3) + 'kMGT'[power - 1] : number(n);
}

/*
 * The state: the visible time (in bins) and addresses (of all bands, 0 to 1), the colours, the selected time (in bins) or
 * null, what is searched and the bands with it, the mouse in the window, and whether the wheel zooms.
 */
let view = { x0: 0, x1: D.bins, y0: 0, y1: 1 }, by = D.by, hidden = new Set(), mouse = null, taken = false;
let span = null, found = [], foundAt = -1, theme = 'light', T = D.themes.light, printing = false;
let plan, spots = [];

function setTheme(name)
{
	theme = name;
	T = D.themes[name];
	document.documentElement.classList.toggle('dark', name === 'dark');
	for (const [tone, value] of Object.entries(T.tones))
		document.documentElement.style.setProperty('--' + tone, value);
	$('dark').textContent = name === 'dark' ? 'light' : 'dark';
}

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
	'fault-class': i => D.label_ranks[C.kind[i] >> 6],
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
	const fixed = { sampled: T.sampled, heat: T.hot[4] };
	return fixed[key] || T[by][+key.replace(/\D+/, '')];
}

function keyShape(key)
{
	return key === 'sampled' ? D.shape_of.sampled : by === 'heat' ? 1 : D.shape_of[by][+key.replace(/\D+/, '')];
}

/* A rare fault's number in the colours by class; else 0. */
const markOf = i => C.kind[i] & 16 ? 3 : (C.kind[i] >> 2 & 3) === 2 ? 2 : 0;

/* A point as it is in the picture. */
function pointMark(shape, style)
{
	const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
	const path = document.createElementNS('http://www.w3.org/2000/svg', 'polygon');
	const [hollow, ...at] = D.shapes[shape];
	svg.setAttribute('viewBox', '-120 -120 240 240');
	path.setAttribute('points', at.join(' '));
	path.setAttribute('fill', hollow ? 'none' : style);
	path.setAttribute('stroke', style);
	path.setAttribute('stroke-width', hollow ? 50 : 0);
	svg.append(path);
	return svg;
}

function makeLegend()
{
	const sums = new Map(), box = $('legend');
	for (let i = 0; i < N; i++)
		sums.set(keys[keyNumbers[i]], (sums.get(keys[keyNumbers[i]]) || 0) + C.count[i]);
	box.textContent = '';
	for (const key of [...sums.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))) {
		const button = document.createElement('button');
		button.append(pointMark(keyShape(key), keyColor(key)), keyText(key) + ': ' + number(sums.get(key)));
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

function heatColor(key, level)
{
	return (key === 'sampled' ? T.seen : T.hot)[level];
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

/* What else is in the picture: marks of rare faults (unless the colours are theirs), folds, losses. */
function makeMarks()
{
	const box = $('marks'), sums = [];
	for (let i = 0; i < N; i++)
		sums[markOf(i)] = (sums[markOf(i)] || 0) + C.count[i];
	box.textContent = '';
	for (const mark of [2, 3])
		if (sums[mark] && by !== 'class')
			box.append(pointMark(D.shape_of.class[mark], T.class[mark]),
				   'of them ' + D.class[mark] + ': ' + number(sums[mark]) + ' ');
	if (folds.some(f => f.length))
		swatch(box, 'fold', 'folded: nothing touched ');
	if (D.losses.length)
		box.append(pointMark(LOST, T.tones.lost), 'events lost' + (D.unobserved.length ? ' ' : ''));
	if (D.unobserved.length)
		swatch(box, 'hatched', D.unobserved_text);
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
/* "7f00-8f00", and what was added to it, by segment. */
const ranges = [], shifts = [];
D.ranges.forEach(([first, range, shift], i) => {
	const end = i + 1 < D.ranges.length ? D.ranges[i + 1][0] : D.segments.length;
	for (let k = first; k < end; k++)
		[ranges[k], shifts[k]] = [range, BigInt(shift)];
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
	const addr = (BigInt(seg[4]) + BigInt(C.page[i]) << BigInt(D.unit_shift)) + BigInt(C.addr[i]) - shifts[C.segment[i]];
	const what = kind & 32 ? 'sampled access' : 'fault';
	const lines = [
		(s.count > 1 ? number(s.count) + ' of them; the first: ' : '') + what +
			', ' + D.access[kind & 3] +
			(kind >> 2 & 3 ? ', ' + D.class[kind >> 2 & 3] : '') +
			(kind & 16 ? ', ' + D.class[3] : '') +
			(kind >> 6 ? '; ' + D.labels[kind >> 6] : ''),
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

/* ---- the selected time ---- */

/* Whole bins, of which all is known. */
function select(from, to)
{
	span = [clamp(Math.floor(Math.min(from, to)), 0, D.bins - 1), clamp(Math.ceil(Math.max(from, to)), 1, D.bins)];
	showSpan();
}

function unselect()
{
	span = null;
	showSpan();
}

/* What happened in the selected time, by band: the most first. */
function spanRows()
{
	const rows = new Map(), page = D.unit_shift === D.page_shift;
	for (let i = 0; i < N; i++) {
		if (C.bin[i] < span[0] || C.bin[i] >= span[1])
			continue;
		const nr = D.segments[C.segment[i]][0], mark = markOf(i);
		const row = rows.get(nr) || { nr, faults: 0, accesses: 0, major: 0, signals: 0, pages: new Set(), first: Infinity };
		row[C.kind[i] & 32 ? 'accesses' : 'faults'] += C.count[i];
		row.major += mark === 2 ? C.count[i] : 0;
		row.signals += mark === 3 ? C.count[i] : 0;
		row.pages.add(C.segment[i] * 2 ** 40 + C.page[i]);
		row.first = Math.min(row.first, timeOf(i));
		rows.set(nr, row);
	}
	return { page, rows: [...rows.values()].sort((a, b) => b.faults + b.accesses - a.faults - a.accesses || b.nr - a.nr) };
}

function addRow(table, kind, cells)
{
	const row = table.insertRow();
	for (const content of cells) {
		const cell = document.createElement(kind);
		cell.append(content);
		row.append(cell);
	}
}

/* The table of the selected time, with a line for each region in it. */
function showSpan()
{
	const table = $('table');
	$('selected').hidden = !span;
	table.textContent = '';
	if (!span)
		return draw();
	const { page, rows } = spanRows(), sum = of => rows.reduce((a, row) => a + of(row), 0);
	const columns = [['faults', row => row.faults], ['accesses', row => row.accesses], ['major', row => row.major],
		['signals', row => row.signals], [page ? 'pages' : 'places', row => row.pages.size]]
		.filter(([name, of], i) => !i || name === 'pages' || name === 'places' || sum(of));
	$('selection').textContent = 'Selected: ' + seconds(D.from_ns + span[0] * D.bin_ns) + ' to ' +
		seconds(D.from_ns + span[1] * D.bin_ns);
	addRow(table, 'th', ['region', ...columns.map(([name]) => name), 'first']);
	for (const row of rows) {
		const button = document.createElement('button'), block = D.blocks.length > 1 ? D.blocks[D.bands[row.nr].block][0] + ': ' : '';
		button.textContent = block + D.bands[row.nr].label;
		button.onclick = () => goTo(row.nr);
		addRow(table, 'td', [button, ...columns.map(([, of]) => number(of(row))), seconds(D.from_ns + row.first)]);
	}
	addRow(table, 'td', ['all', ...columns.map(([, of]) => number(sum(of))), '']);
	draw();
}

function zoomToSpan()
{
	if (!span)
		return false;
	[view.x0, view.x1] = span;
	draw();
}

/* ---- search ---- */

/* Bands with that in their names or, for a hexadecimal number, with that address: from top to bottom. */
function search(words)
{
	const word = words.trim().toLowerCase(), hex = /^(0x)?[0-9a-f]{4,16}$/.test(word) ? BigInt('0x' + word.replace(/^0x/, '')) : null;
	const hits = new Set();
	D.bands.forEach((band, i) => {
		if (word && band.label.toLowerCase().includes(word))
			hits.add(i);
	});
	D.segments.forEach((s, i) => {
		const [start, end] = ranges[i] ? ranges[i].split('-').map(a => BigInt('0x' + a)) : [0n, 0n];
		if (word && (D.names[s[5]].toLowerCase().includes(word) || (hex !== null && start <= hex && hex < end)))
			hits.add(s[0]);
	});
	found = [...hits].sort((a, b) => plan.top[a] - plan.top[b]);
	foundAt = -1;
	$('found').textContent = !word ? '' : found.length ? number(found.length) + ' found' : 'not found';
	draw();
}

/* Scrolls to the band. */
function goTo(nr)
{
	[view.y0, view.y1] = [0, 1];
	draw();
	const top = canvas.getBoundingClientRect().top + toY(plan.top[nr]);
	if (top < 0 || top + 40 > under.getBoundingClientRect().top)
		scrollBy(0, top - innerHeight / 3);
}

function next(step)
{
	if (!found.length)
		return false;
	foundAt = (foundAt + step + found.length + (foundAt < 0 && step < 0)) % found.length;
	$('found').textContent = foundAt + 1 + ' of ' + found.length + ': ' + D.bands[found[foundAt]].label;
	goTo(found[foundAt]);
}

$('find').oninput = () => search($('find').value);
$('find').onkeydown = e => {
	if (e.key === 'Enter')
		next(e.shiftKey ? -1 : 1);
	if (e.key === 'Escape')
		$('find').blur();
};

/* ---- the state in the page's address ---- */

/* Times are nanoseconds from the start of the picture. */
function stateText()
{
	const state = new URLSearchParams(), ns = (a, b) => Math.round(a * D.bin_ns) + '-' + Math.round(b * D.bin_ns);
	if (view.x0 > 0 || view.x1 < D.bins)
		state.set('time', ns(view.x0, view.x1));
	if (view.y0 > 0 || view.y1 < 1)
		state.set('addresses', view.y0.toFixed(5) + '-' + view.y1.toFixed(5));
	if (by !== D.by)
		state.set('by', by);
	if (hidden.size)
		state.set('hide', [...hidden].join());
	if (span)
		state.set('selected', ns(...span));
	if ($('find').value)
		state.set('find', $('find').value);
	if (theme !== ownTheme())
		state.set('theme', theme);
	return state.toString();
}

const ownTheme = () => D.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

let restoring = true;
function saveState()
{
	const text = stateText();
	if (!restoring && !printing && text !== location.hash.slice(1))
		history.replaceState(null, '', text ? '#' + text : location.pathname + location.search);
}

/* What the address says, as far as it makes sense; else the default. */
function readState()
{
	const state = new URLSearchParams(location.hash.slice(1));
	const pair = name => {
		const numbers = (state.get(name) || '').split('-').map(Number);
		return numbers.length === 2 && numbers.every(isFinite) && numbers[0] < numbers[1] ? numbers : null;
	};
	const time = pair('time'), addresses = pair('addresses'), selected = pair('selected');
	restoring = true;
	view = { x0: 0, x1: D.bins, y0: 0, y1: 1 };
	if (time)
		[view.x0, view.x1] = limit(time[0] / D.bin_ns, time[1] / D.bin_ns, D.bins, Math.min(D.bins, 0.25));
	if (addresses)
		[view.y0, view.y1] = limit(...addresses, 1, 0.002);
	setTheme(Object.hasOwn(D.themes, state.get('theme')) ? state.get('theme') : ownTheme());
	setBy(Object.hasOwn(numberOf, state.get('by')) ? state.get('by') : D.by);
	hidden = new Set((state.get('hide') || '').split(',').filter(key => keys.includes(key)));
	makeLegend();
	$('find').value = state.get('find') || '';
	search($('find').value);
	span = selected && [Math.round(selected[0] / D.bin_ns), Math.round(selected[1] / D.bin_ns)];
	span ? select(...span) : unselect();
	restoring = false;
	saveState();
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
const binAt = e => fromX(clamp(e.clientX - canvas.getBoundingClientRect().left, plan.left, plan.right));
picture.onpointerdown = e => {
	const selects = e.shiftKey || e.clientY >= under.getBoundingClientRect().top;
	drag = { x: e.clientX, y: e.clientY, from: selects ? binAt(e) : null };
	picture.setPointerCapture(e.pointerId);
	take(e.pointerType === 'mouse');
};
picture.onpointerup = picture.onpointercancel = () => { drag = null; };
picture.onpointerleave = () => {
	leave();
	take(false);
};
picture.onpointermove = e => {
	if (drag && drag.from !== null) {
		if (Math.abs(e.clientX - drag.x) > 2)
			select(drag.from, binAt(e));
		return leave();
	}
	if (drag) {
		const { x, y } = drag;
		drag = { x: e.clientX, y: e.clientY, from: null };
		mouse = null;
		move((x - e.clientX) / pixelsOfBin(), (y - e.clientY) / plan.shown * (view.y1 - view.y0));
	}
	if (e.clientY >= under.getBoundingClientRect().top)
		return leave();
	mouse = { x: e.clientX, y: e.clientY };
	showTip();
};
/* Wherever the focus is, but where one writes. A key without effect is left to the page. */
document.onkeydown = e => {
	const step = (view.x1 - view.x0) / 10, up = (view.y1 - view.y0) / 10, middle = (view.x0 + view.x1) / 2;
	const half = (view.y0 + view.y1) / 2;
	const keys = {
		'+': () => zoomTime(0.8, middle), '=': () => zoomTime(0.8, middle), '-': () => zoomTime(1.25, middle),
		']': () => zoomAddresses(0.8, half), '[': () => zoomAddresses(1.25, half),
		ArrowLeft: () => move(-step, 0), ArrowRight: () => move(step, 0), ArrowUp: () => move(0, -up),
		ArrowDown: () => move(0, up), '0': reset, Escape: () => { take(false); unselect(); },
		s: () => select(view.x0, view.x1), z: zoomToSpan, d: () => $('dark').click(),
		'/': () => $('find').focus(), n: () => next(1), N: () => next(-1),
		1: () => setBy('access'), 2: () => setBy('class'), 3: () => setBy('thread'), 4: () => setBy('heat'),
		5: () => setBy('fault-class'),
	};
	if (e.target === $('find'))
		return;
	if (Object.hasOwn(keys, e.key) && !e.ctrlKey && !e.altKey && !e.metaKey && keys[e.key]() !== false)
		e.preventDefault();
};

/* ---- paper ---- */

/* Paper is white and has one width. */
let before = null;
onbeforeprint = () => {
	before = theme;
	printing = true;
	setTheme('light');
	setLooks();
};
onafterprint = () => {
	printing = false;
	setTheme(before);
	setLooks();
};

/* ---- begin ---- */

/* Draws again after the theme or the colours have changed. */
function setLooks()
{
	makeMarks();
	const sums = makeLegend();
	$('scale').textContent = '';
	draw();
	return sums;
}

function setBy(what)
{
	by = what;
	hidden.clear();
	for (const button of document.querySelectorAll('[data-by]'))
		button.setAttribute('aria-pressed', button.dataset.by === by);
	makeKeys();
	return setLooks();
}

for (const button of document.querySelectorAll('[data-by]'))
	button.onclick = () => setBy(button.dataset.by);
$('reset').onclick = reset;
$('dark').onclick = () => {
	setTheme(theme === 'dark' ? 'light' : 'dark');
	setLooks();
};
$('to-span').onclick = zoomToSpan;
$('no-span').onclick = unselect;
$('title').textContent = D.title;
document.title = D.title ? D.title + ' - pfscope plot' : 'pfscope plot';
$('sum').textContent = D.sum;
$('notes').textContent = D.notes;
$('what').textContent = 'A point covers ' + number(D.bin_ns) + ' ns by ' + number(2 ** D.unit_shift) +
	' bytes, or several such cells; a single touch is drawn at its own time and address. Zoomed in, ' +
	'several touches are a faint area: they lie anywhere in it. Addresses grow upwards, gaps are folded. ' +
	D.resident_text + '.';
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
	if (!printing && document.documentElement.clientWidth !== plan.width)
		draw();
}).observe(document.documentElement);
onhashchange = readState;
readState();
