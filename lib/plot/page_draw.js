/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places and draws what a plot's page shows. plot/page.js, which follows in the page, has the state and handles mouse and
 * keys.
 */
'use strict';

/* ---- the plan: places of bands before zooming ---- */

/*
 * As high as the window, if that leaves room for all names and no band grows too high. A narrow window has less beside
 * the bands.
 */
function makePlan(width)
{
	const wide = width >= 760, chart = innerHeight < 800 ? 40 : 70, below = 2 * (chart + GAP) + AXIS;
	const wish = band => 14 + 9 * Math.log2(1 + band.pages);
	const wishes = D.bands.reduce((sum, band) => sum + wish(band), 1);
	const headings = D.blocks.length > 1 ? HEADING * D.blocks.length : 0;
	const room = innerHeight - canvas.getBoundingClientRect().top - scrollY - below;
	const least = LABEL * D.bands.length, most = Math.max(room - headings, 16 * D.bands.length, 200);
	const wanted = clamp(Math.max(wishes, Math.min(room - headings, 2 * wishes)), 200, most);
	const scale = (wanted - least) / (wishes - least);
	let y = 0;
	plan = { width, wide, chart, below, top: [], height: [], headings: [] };
	plan.left = wide ? 206 : clamp(Math.round(width * 0.27), 60, 190);
	plan.right = width - (wide ? COUNT + THUMB + 24 : 58);
	plan.number = wide ? number : short;
	for (let block = 0; block < D.blocks.length; block++) {
		plan.headings.push(y);
		y += headings ? HEADING : 0;
		for (let i = D.bands.length - 1; i >= 0; i--) {
			if (D.bands[i].block !== block)
				continue;
			plan.top[i] = y;
			plan.height[i] = LABEL + (wish(D.bands[i]) - LABEL) * scale;
			y += plan.height[i];
		}
	}
	plan.bands = plan.shown = Math.max(y, 1);
}

const pixelsOfBin = () => (plan.right - plan.left) / (view.x1 - view.x0);
const toX = bin => plan.left + (bin - view.x0) * pixelsOfBin();
const toY = y => (y / plan.bands - view.y0) / (view.y1 - view.y0) * plan.shown;
const fromY = y => view.y0 + y / plan.shown * (view.y1 - view.y0);
const fromX = x => view.x0 + (x - plan.left) / pixelsOfBin();

/* The time of the cell's first touch. */
const timeOf = i => C.bin[i] * D.bin_ns + C.ts[i];

/* The cell's middle among the bands, and its height: one touch is on its page, several are anywhere in the cell. */
function cellY(i)
{
	const s = D.segments[C.segment[i]], one = C.count[i] === 1;
	const page = 2 ** D.page_shift;
	const middle = (Math.floor(C.addr[i] / page) + 0.5) * page / 2 ** D.unit_shift;
	const at = s[1] + s[2] * (C.page[i] + (one ? middle : 0.5)) / s[3];
	return [plan.top[s[0]] + plan.height[s[0]] * (1 - at), one ? 0 : plan.height[s[0]] * s[2] / s[3]];
}

/* ---- drawing ---- */

const color = tone => T.tones[tone];

/* The outline of a point, as plot/theme.c has it. */
function shapePath(g, shape, x, y, size)
{
	const [, ...at] = D.shapes[shape], unit = size / 200;
	g.beginPath();
	for (let i = 0; i < at.length; i += 2)
		g.lineTo(x + unit * at[i], y + unit * at[i + 1]);
	g.closePath();
}

/* A point in that colour. */
function drawPoint(g, shape, x, y, size, style)
{
	shapePath(g, shape, x, y, size);
	g.fillStyle = g.strokeStyle = style;
	g.lineWidth = size / 4;
	g.setLineDash([]);
	D.shapes[shape][0] ? g.stroke() : g.fill();
}

function text(g, s, x, y, align, room)
{
	g.textAlign = align;
	while (room && s.length > 4 && g.measureText(s).width > room)
		s = s.slice(0, -2).replace(/…?.$/, '') + '…';
	g.fillText(s, x, y);
}

/* The part of the bands that the window shows. */
function inWindow()
{
	const top = canvas.getBoundingClientRect().top, from = clamp(-top, 0, plan.shown);
	return [from, clamp(under.getBoundingClientRect().top - top, from, plan.shown)];
}

function drawBands()
{
	const dashes = color('fold'), line = color('line');
	const bg = [color('ground'), color('odd')], strange = color('strange');
	D.bands.forEach((band, i) => {
		const y = toY(plan.top[i]), h = toY(plan.top[i] + plan.height[i]) - y;
		if (y > plan.shown || y + h < 0)
			return;
		g.fillStyle = band.unknown ? strange : bg[i % 2];
		g.fillRect(plan.left, y, plan.right - plan.left, h);
		g.fillStyle = line;
		g.fillRect(plan.left, y, plan.right - plan.left, 1);
		if (folds[i].length >= h / 12)
			return;
		g.strokeStyle = dashes;
		g.lineWidth = 1;
		g.setLineDash([4, 3]);
		g.beginPath();
		for (const at of folds[i]) {
			const middle = Math.round(y + h * (1 - at)) + 0.5;
			g.moveTo(plan.left, middle);
			g.lineTo(plan.right, middle);
		}
		g.stroke();
	});
}

/* Times at which events may be missing: on top of all, at least as wide as a point, with a mark above. */
function drawLosses(g, y, h)
{
	for (const [from, to, side] of D.losses) {
		const left = clamp(toX(from), plan.left, plan.right), end = clamp(toX(to), plan.left, plan.right);
		const w = Math.max(end - left, DOT), x = Math.min(left, plan.right - w);
		if (toX(to) < plan.left || toX(from) > plan.right)
			continue;
		g.fillStyle = color('lost');
		g.globalAlpha = 0.35;
		for (let i = 0; g !== u && i < D.bands.length; i++)
			if (D.bands[i].side === side)
				g.fillRect(x, toY(plan.top[i]), w, toY(plan.top[i] + plan.height[i]) - toY(plan.top[i]));
		if (g === u)
			g.fillRect(x, y, w, h);
		g.globalAlpha = 1;
		g.fillRect(x, y, w, 3);
		if (g !== u)
			drawPoint(g, LOST, x + w / 2, y + 4, MARK, color('lost'));
	}
}

/* The selected time. */
function drawSpan(g, y, h)
{
	if (!span)
		return;
	const x = clamp(toX(span[0]), plan.left, plan.right), end = clamp(toX(span[1]), plan.left, plan.right);
	if (toX(span[1]) < plan.left || toX(span[0]) > plan.right)
		return;
	g.fillStyle = color('rate');
	g.globalAlpha = 0.18;
	g.fillRect(x, y, end - x, h);
	g.globalAlpha = 1;
	g.fillRect(x, y, 1, h);
	g.fillRect(end - 1, y, 1, h);
}

/* Where nothing was observed: lines that go on in an adjacent area. A quiet interval is left out if it is too small to be seen. */
function drawUnobserved()
{
	const apart = 6;
	g.strokeStyle = color('hatch');
	g.setLineDash([]);
	g.lineWidth = 1;
	g.beginPath();
	for (const [band, at, len, from, to, quiet] of D.unobserved) {
		const x = clamp(toX(from), plan.left, plan.right), w = clamp(toX(to), plan.left, plan.right) - x;
		const top = toY(plan.top[band] + plan.height[band] * (1 - at - len));
		const y = clamp(top, 0, plan.shown);
		const h = clamp(top + toY(plan.height[band] * len) - toY(0), 0, plan.shown) - y;
		if (w <= 0 || h <= 0 || (quiet && w < 1))
			continue;
		for (let sum = Math.ceil((x + y) / apart) * apart; sum < x + w + y + h; sum += apart) {
			g.moveTo(Math.max(x, sum - y - h), Math.min(y + h, sum - x));
			g.lineTo(Math.min(x + w, sum - y), Math.max(y, sum - x - w));
		}
	}
	g.stroke();
}

/* What is touched of it at any time, as bars from its lowest address on. */
function drawThumb(band, x, middle, h)
{
	const w = THUMB / band.thumb.length;
	g.fillStyle = color('odd');
	g.fillRect(x, middle - h / 2, THUMB, h);
	g.fillStyle = color('rate');
	band.thumb.forEach((eighths, i) => g.fillRect(x + i * w, middle + h / 2 - h * eighths / 8, w, h * eighths / 8));
	g.fillStyle = color('rule');
	g.fillRect(x, middle + h / 2, THUMB, 1);
}

/*
 * Names are in the middle of the visible part of their bands; a heading stays at the top while bands under it are
 * visible.
 */
function drawNames()
{
	const [top, to] = inWindow(), many = D.blocks.length > 1, from = top + (many ? HEADING : 0);
	const ink = color('ink'), dim = color('dim');
	g.font = '11px sans-serif';
	D.bands.forEach((band, i) => {
		const y = toY(plan.top[i]), end = toY(plan.top[i] + plan.height[i]);
		const first = Math.max(y, from), last = Math.min(end, to), middle = (first + last) / 2 + 4;
		if (last - first < LABEL - 0.01)
			return;
		if (found.includes(i)) {
			g.fillStyle = color('head');
			g.fillRect(0, first, plan.left, last - first);
			drawPoint(g, FOUND, 7, (first + last) / 2, 8, color('note'));
		}
		g.fillStyle = ink;
		text(g, band.label, plan.left - 6, middle, 'right', plan.left - 12);
		g.fillStyle = dim;
		text(g, plan.number(band.faults + band.sampled), plan.wide ? plan.right + COUNT : plan.right + 6, middle,
		     plan.wide ? 'right' : 'left');
		if (plan.wide)
			drawThumb(band, plan.right + COUNT + 10, (first + last) / 2, Math.min(14, last - first - 3));
	});
	for (let i = 0; many && i < D.blocks.length; i++) {
		const y = toY(plan.headings[i]), last = i + 1 === D.blocks.length;
		const end = toY(last ? plan.bands : plan.headings[i + 1]);
		const at = Math.min(Math.max(y, top), end - HEADING);
		if (end < top || y > to)
			continue;
		g.fillStyle = color('head');
		g.fillRect(0, y, plan.right, toY(plan.headings[i] + HEADING) - y);
		g.fillRect(0, at, plan.right, HEADING);
		g.fillStyle = ink;
		g.font = 'bold 12px sans-serif';
		text(g, D.blocks[i][0] + ': ' + D.blocks[i][1], 14, at + 14, 'left', plan.right - 20);
	}
}

/*
 * Cells of one colour in one place are one spot. Several touches in a cell that is larger than a dot are drawn as large
 * as the cell: no more is known of their places.
 */
function findSpots()
{
	const places = new Map(), unit = pixelsOfBin(), zoom = plan.shown / plan.bands / (view.y1 - view.y0);
	const step = by === 'heat' ? DOT : 2;
	const hides = keys.map(key => hidden.has(key)), far = 2 ** 20;
	let shown = 0;
	spots = [];
	for (let i = 0; i < N; i++) {
		const key = keyNumbers[i];
		if (hides[key])
			continue;
		shown += C.count[i];
		const [at, high] = cellY(i), many = C.count[i] > 1;
		const w = many ? unit : 0, h = high * zoom, wide = w > DOT || h > DOT;
		const x = toX(C.bin[i] + (many ? 0.5 : C.ts[i] / D.bin_ns)), y = toY(at);
		if (x + w / 2 < plan.left || x - w / 2 > plan.right || y + h / 2 < 0 || y - h / 2 > plan.shown)
			continue;
		const column = Math.floor(x / step) + far, row = Math.floor(y / step) + far;
		const mark = markOf(i);
		const place = ((2 * (4 * key + mark) + wide) * 2 * far + column) * 2 * far + row;
		const spot = places.get(place);
		if (spot) {
			spot.count += C.count[i];
			if (timeOf(i) < timeOf(spot.cell))
				spot.cell = i;
		} else {
			spots.push({
				x, y, w: wide ? w : 0, h: wide ? h : 0, cell: i, key: keys[key], mark, count: C.count[i],
			});
			places.set(place, spots[spots.length - 1]);
		}
	}
	return shown;
}

/*
 * High counts on top of low ones, dots on top of wide spots, faults on top of sampled accesses, rare faults on top of all.
 * Returns the highest count of each in one place.
 */
function drawSpots(scale)
{
	const heat = by === 'heat', most = {};
	const order = s => (s.key === 'sampled' ? 0 : 2) + !s.w, scaleOf = s => s.key === 'sampled' ? s.key : 'heat';
	for (const s of spots)
		most[scaleOf(s)] = Math.max(most[scaleOf(s)] || 1, s.count);
	spots.sort((a, b) => a.mark - b.mark || order(a) - order(b) || a.count - b.count);
	layer.canvas.width = canvas.width;
	layer.canvas.height = canvas.height;
	layer.setTransform(scale, 0, 0, scale, 0, 0);
	layer.beginPath();
	layer.rect(plan.left, 0, plan.right - plan.left, plan.shown);
	layer.clip();
	for (const s of spots) {
		const level = levelOf(s.count, most[scaleOf(s)]), strong = level / (LEVELS - 1);
		const style = heat ? heatColor(s.key, level) : keyColor(s.key);
		layer.globalAlpha = heat ? 1 : s.w ? 0.3 + 0.4 * strong : 0.76 + 0.24 * strong;
		layer.fillStyle = style;
		if (s.w)
			layer.fillRect(s.x - Math.max(s.w, DOT) / 2, s.y - Math.max(s.h, DOT) / 2,
				       Math.max(s.w, DOT), Math.max(s.h, DOT));
		else if (heat && s.key !== 'sampled')
			layer.fillRect(Math.floor(s.x / DOT) * DOT, Math.floor(s.y / DOT) * DOT, DOT, DOT);
		else
			drawPoint(layer, keyShape(s.key), s.x, s.y, DOT + (s.key === 'sampled' ? 2 : 1), style);
		layer.globalAlpha = 1;
		if (!s.mark)
			continue;
		drawPoint(layer, 0, s.x, s.y, MARK + 3, color('ground'));
		drawPoint(layer, D.shape_of.class[s.mark], s.x, s.y, MARK, T.class[s.mark]);
	}
	return most;
}

/* A column is two pixels wide or more: the sum of faults, or the most pages. */
function chartColumns(values, together, unit)
{
	const columns = [];
	for (let i = 0; i < values.length; i += together) {
		let value = 0;
		for (let k = i; k < i + together && k < values.length; k++)
			value = unit ? Math.max(value, values[k]) : value + values[k];
		columns.push(value);
	}
	return columns;
}

/* The values of the first recording as an area; those of a second as a line. */
function drawChart(y, name, sides, bins, unit, fill)
{
	const g = u, { left, right, chart } = plan, width = bins * (right - left) / (view.x1 - view.x0);
	const together = Math.max(1, Math.ceil(2 / width)), place = i => clamp(Math.round(toX(i * together * bins)), left, right);
	const columns = sides.map(values => chartColumns(values, together, unit));
	let most = 0;
	for (const side of columns)
		side.forEach((value, i) => {
			if (toX((i + 1) * together * bins) > left && toX(i * together * bins) < right)
				most = Math.max(most, value);
		});
	g.fillStyle = color('chart');
	g.fillRect(left, y, right - left, chart);
	g.fillStyle = fill;
	columns[0].forEach((value, i) => {
		if (value && place(i + 1) > place(i))
			g.fillRect(place(i), y + chart - chart * value / most, place(i + 1) - place(i), chart * value / most);
	});
	if (columns[1]) {
		g.strokeStyle = color('ink');
		g.lineWidth = 1.5;
		g.setLineDash([]);
		g.beginPath();
		columns[1].forEach((value, i) => {
			g.lineTo(place(i), y + chart - (most && chart * value / most));
			g.lineTo(place(i + 1), y + chart - (most && chart * value / most));
		});
		g.stroke();
	}
	const columnSeconds = together * bins * D.bin_ns / 1e9;
	g.font = '11px sans-serif';
	g.fillStyle = color('ink');
	text(g, name, left - 6, y + chart / 2, 'right', left - 12);
	g.fillStyle = color('dim');
	if (columns[1])
		text(g, 'A area, B line', left - 6, y + chart / 2 + 14, 'right', left - 12);
	const scale = unit ? plan.number(most) + (plan.wide ? unit : '') :
		plan.number(most / columnSeconds) + '/s';
	text(g, scale, right + 6, y + 10, 'left');
}

function tickText(ns, tick, unit)
{
	return (ns / 10 ** unit[1]).toFixed(clamp(Math.ceil(unit[1] - Math.log10(tick) - 1e-9), 0, unit[1]));
}

/* The unit in which times are shortest, and its power of ten in nanoseconds. */
function axisUnit(last, tick)
{
	return [['s', 9], ['ms', 6], ['us', 3]].reduce((best, unit) =>
		tickText(last, tick, unit).length < tickText(last, tick, best).length ? unit : best);
}

function drawAxis(y)
{
	const g = u, span = (view.x1 - view.x0) * D.bin_ns, most = Math.max(2, (plan.right - plan.left) / 120);
	let tick = 1;
	for (const steps = [2, 2.5, 2]; span / tick > most;) {
		tick *= steps[0];
		steps.push(steps.shift());
	}
	tick = Math.max(1, Math.round(tick));
	const first = D.from_ns + view.x0 * D.bin_ns, unit = axisUnit(first + span, tick);
	g.font = '11px sans-serif';
	g.fillStyle = color('ink');
	for (let at = Math.ceil(first / tick) * tick; at <= first + span; at += tick) {
		const x = toX((at - D.from_ns) / D.bin_ns);
		g.fillRect(x, y, 1, 5);
		text(g, tickText(at, tick, unit), x, y + 18, 'center');
	}
	text(g, 'time (' + unit[0] + ')', plan.left - 24, y + 18, 'right');
}

/* A canvas of that size in CSS pixels, on an empty ground. */
function clear(g, height, scale)
{
	g.canvas.width = plan.width * scale;
	g.canvas.height = height * scale;
	g.canvas.style.width = plan.width + 'px';
	g.canvas.style.height = height + 'px';
	g.setTransform(scale, 0, 0, scale, 0, 0);
	g.fillStyle = color('ground');
	g.fillRect(0, 0, plan.width, height);
}

/* Paints the computed picture again when the window has moved. */
function paint()
{
	const scale = scaleNow();
	clear(g, plan.shown, scale);
	drawBands();
	drawUnobserved();
	drawSpan(g, 0, plan.shown);
	g.drawImage(layer.canvas, 0, 0, plan.width, layer.canvas.height / scale);
	drawLosses(g, 0, plan.shown);
	drawNames();
	if (mouse)
		showTip();
}

function drawUnder()
{
	const rate = D.resident.map(() => new Float64Array(D.bins)), hides = keys.map(key => hidden.has(key)), wide = plan.wide;
	for (let i = 0; i < N; i++)
		if (!(C.kind[i] & 32) && !hides[keyNumbers[i]])
			rate[D.bands[D.segments[C.segment[i]][0]].side][C.bin[i]] += C.count[i];
	clear(u, plan.below, scaleNow());
	drawChart(GAP / 2, wide ? 'faults per second' : 'faults/s', rate, 1, '', color('rate'));
	drawChart(GAP * 1.5 + plan.chart, wide ? 'resident (estimate)' : 'resident',
		  D.resident, D.resident_bins, ' pages', color('resident'));
	drawLosses(u, GAP / 2, GAP + 2 * plan.chart);
	drawSpan(u, GAP / 2, GAP + 2 * plan.chart);
	drawAxis(GAP * 1.5 + 2 * plan.chart);
}

/* What is in the columns beside the bands. */
function placeColumns()
{
	const box = $('columns'), wide = plan.wide;
	box.textContent = '';
	for (const [words, side, x] of [['region', 'right', plan.width - plan.left + 6],
		wide ? [D.unit, 'right', plan.width - plan.right - COUNT] : [D.unit, 'left', plan.right + 6],
		wide ? ['touched pages', 'left', plan.right + COUNT + 10] : ['', 'left', 0]]) {
		const label = document.createElement('span');
		label.textContent = words;
		label.style[side] = x + 'px';
		box.append(label);
	}
}

/* Sharper on paper than on the screen. */
const scaleNow = () => printing ? 2 : devicePixelRatio || 1;

/* Returns the number of touches that are not hidden. */
function draw()
{
	const scale = scaleNow();
	makePlan(printing ? PAPER : document.documentElement.clientWidth);
	placeColumns();
	canvas.width = plan.width * scale;
	canvas.height = plan.shown * scale;
	drawUnder();
	const shown = findSpots(), most = drawSpots(scale);
	if (by === 'heat')
		makeScale(most);
	paint();
	saveState();
	return shown;
}
