// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph of export/flame.html: a tree of frames with counts by kind, laid out by width.
'use strict';
const D = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id), ROW = 18;
const canvas = $('flame'), on = canvas.getContext('2d');
const shown = { kind: D.kinds.map(() => true), class: D.classes.map(() => true) };
// The pairs of a kind and a class that there are; faults are counted by pair.
const pairs = [], pairOf = new Map();
let by = 'module', dark = matchMedia('(prefers-color-scheme: dark)').matches, up = false, query = '';
let root, zoomed, boxes = [], colors = {}, classColors;

for (let i = 0; i < D.sums.length; i += 5) {
	const [kind, cls] = D.sums.slice(i + 1, i + 3), key = kind + ' ' + cls;
	if (!pairOf.has(key))
		pairOf.set(key, pairs.push({ kind, class: cls }) - 1);
}

// A node: its name and module, what it counts itself by pair, and its children by key.
const node = (name, module, parent) =>
	({ name, module, parent, self: pairs.map(() => 0), children: new Map(), total: 0, kind: 0, class: 0, sums: [] });

function build() {
	const nodes = [];
	root = node('all faults', '', null);
	const child = (parent, key, name, module) => {
		if (!parent.children.has(key))
			parent.children.set(key, node(name, module, parent));
		return parent.children.get(key);
	};
	// A path under the node of a thread's name.
	const under = (top, call, known) => {
		if (!call)
			return top;
		if (!known.has(call)) {
			const parent = under(top, D.calls[2 * call - 2], known), place = D.calls[2 * call - 1];
			known.set(call, child(parent, call, ...D.places[place]));
		}
		return known.get(call);
	};
	for (let i = 0; i < D.sums.length; i += 5) {
		const [call, kind, cls, comm, faults] = D.sums.slice(i, i + 5);
		const top = child(root, 'c' + comm, D.comms[comm], '');
		nodes[comm] = nodes[comm] || new Map();
		under(top, call, nodes[comm]).self[pairOf.get(kind + ' ' + cls)] += faults;
	}
}

const isShown = pair => shown.kind[pairs[pair].kind] && shown.class[pairs[pair].class];

// The faults of each kind, or of each class, of sums by pair.
function each(what, sums) {
	const all = (what === 'kind' ? D.kinds : D.classes).map(() => 0);
	sums.forEach((faults, pair) => { all[pairs[pair][what]] += faults; });
	return all;
}
const most = all => all.indexOf(Math.max(...all));

// Adds up what is shown; kind and class are those that most of a node's faults have.
function count(n) {
	n.sums = n.self.map((faults, pair) => isShown(pair) ? faults : 0);
	for (const c of n.children.values())
		count(c).forEach((faults, pair) => { n.sums[pair] += faults; });
	n.total = n.sums.reduce((a, b) => a + b, 0);
	n.kind = most(each('kind', n.sums));
	n.class = most(each('class', n.sums));
	n.sorted = [...n.children.values()].sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
	return n.sums;
}

const depth = n => n.total ? 1 + Math.max(0, ...n.sorted.map(depth)) : 0;
const matches = n => query && (n.name + ' ' + n.module).toLowerCase().includes(query);

// The modules with the most faults have a colour each.
function rankModules() {
	const sums = new Map(), ranks = new Map();
	const add = n => {
		const self = n.self.reduce((a, b) => a + b, 0);
		sums.set(n.module, (sums.get(n.module) || 0) + self);
		n.children.forEach(add);
	};
	add(root);
	sums.delete('');
	[...sums].sort((a, b) => b[1] - a[1]).forEach(([module], i) => ranks.set(module, Math.min(i, 7)));
	return ranks;
}

// So have the classes; the last colour is that of all others.
function rankClasses() {
	const sums = all('class'), ranks = new Map();
	const sorted = D.classes.map((name, i) => i).filter(i => sums[i]).sort((a, b) => sums[b] - sums[a]);
	sorted.forEach((i, rank) => ranks.set(i, Math.min(rank, 7)));
	return ranks;
}

const theme = () => D.themes[dark ? 'dark' : 'light'];
function color(n) {
	if (n === root || n.parent === root)
		return theme().head;
	if (by === 'access')
		return theme().access[n.kind & 3];
	return theme().area[by === 'class' ? classColors.get(n.class) : colors.get(n.module) ?? 7];
}
const light = hex => {
	const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
	return 0.3 * r + 0.59 * g + 0.11 * b > 140;
};

function draw() {
	const width = document.documentElement.clientWidth, ratio = devicePixelRatio || 1;
	const above = [], rows = [];
	for (let n = zoomed.parent; n; n = n.parent)
		above.unshift(n);
	const height = (above.length + Math.max(1, depth(zoomed))) * ROW + 2;
	canvas.width = width * ratio;
	canvas.height = height * ratio;
	canvas.style.width = width + 'px';
	canvas.style.height = height + 'px';
	on.scale(ratio, ratio);
	on.font = '12px sans-serif';
	on.textBaseline = 'middle';
	boxes = [];
	above.forEach((n, i) => rows.push([n, 0, width, i, true]));
	const lay = (n, x, w, row) => {
		if (w < 0.4 || !n.total)
			return;
		rows.push([n, x, w, row, false]);
		for (const c of n.sorted) {
			const part = w * c.total / n.total;
			lay(c, x, part, row + 1);
			x += part;
		}
	};
	lay(zoomed, 0, width, above.length);
	for (const [n, x, w, row, faded] of rows)
		box(n, x, w, up ? height - 2 - (row + 1) * ROW : row * ROW, faded);
	const found = sumFound(root);
	$('found').textContent = query ? `${found} faults, ${percent(found, root.total)}` : '';
	$('sum').textContent = `${root.total} of ${D.faults} faults, ${D.sum}`;
}

function box(n, x, w, y, faded) {
	const fill = query && !matches(n) ? theme().odd : color(n);
	boxes.push({ n, x, w, y });
	on.globalAlpha = faded ? 0.6 : 1;
	on.fillStyle = fill;
	on.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 0.4), ROW - 1);
	on.globalAlpha = 1;
	if (w < 22)
		return;
	const room = w - 8;
	let text = n.name;
	if (on.measureText(text).width > room) {
		let nr = Math.floor(text.length * room / on.measureText(text).width);
		text = text.slice(0, Math.max(nr - 1, 1)) + '…';
	}
	on.fillStyle = light(fill) ? '#1f2430' : '#ffffff';
	on.fillText(text, x + 4, y + ROW / 2);
}

// Faults below frames that match, each once.
function sumFound(n) {
	return !query ? 0 : matches(n) ? n.total : n.sorted.reduce((sum, c) => sum + sumFound(c), 0);
}

const percent = (part, whole) => (whole ? 100 * part / whole : 0).toFixed(1) + ' %';
const at = event => {
	const r = canvas.getBoundingClientRect(), x = event.clientX - r.left, y = event.clientY - r.top;
	return boxes.find(b => x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + ROW);
};

function tip(event) {
	const hit = at(event), box = $('tip');
	box.style.display = hit ? 'block' : 'none';
	if (!hit)
		return;
	const n = hit.n, self = n.self.reduce((sum, faults, pair) => sum + (isShown(pair) ? faults : 0), 0);
	const classes = each('class', n.sums).map((faults, i) => [faults, D.classes[i]]).filter(([faults]) => faults)
		.sort((a, b) => b[0] - a[0]);
	box.textContent = `${n.name}${n.module ? '\n' + n.module : ''}\n${n.total} faults, ${percent(n.total, root.total)}` +
		(self ? `\nitself ${self}, ${percent(self, root.total)}` : '') +
		(zoomed !== root && n !== root ? `\n${percent(n.total, zoomed.total)} of ${zoomed.name}` : '') +
		classes.slice(0, 5).map(([faults, name]) => `\n${faults} ${name}`).join('') +
		(classes.length > 5 ? `\n${classes.length - 5} more classes` : '');
	box.style.left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8) + 'px';
	box.style.top = (event.clientY + 18 + box.offsetHeight > innerHeight ? event.clientY - box.offsetHeight - 10
		: event.clientY + 18) + 'px';
}

function zoom(n) {
	zoomed = n;
	draw();
}

function recount() {
	count(root);
	while (!zoomed.total && zoomed.parent)
		zoomed = zoomed.parent;
	draw();
}

function dress() {
	document.documentElement.classList.toggle('dark', dark);
	for (const [tone, value] of Object.entries(theme()))
		if (typeof value === 'string')
			document.documentElement.style.setProperty('--' + tone, value);
	$('dark').textContent = dark ? 'light' : 'dark';
	document.querySelectorAll('[data-by]').forEach(b => b.setAttribute('aria-pressed', b.dataset.by === by));
	legend();
	draw();
}

// All faults by kind or by class.
function all(what) {
	const sums = pairs.map(() => 0);
	for (let i = 0; i < D.sums.length; i += 5)
		sums[pairOf.get(D.sums[i + 1] + ' ' + D.sums[i + 2])] += D.sums[i + 4];
	return each(what, sums);
}

function items(what, names, tone) {
	const sums = all(what);
	names.map((name, i) => i).filter(i => sums[i]).forEach(i => {
		const b = document.createElement('button'), mark = document.createElement('i');
		mark.style.background = tone && tone(i);
		b.append(...(tone ? [mark] : []), `${names[i]} ${sums[i]}`);
		b.setAttribute('aria-pressed', shown[what][i]);
		b.dataset[what] = i;
		b.onclick = () => {
			shown[what][i] = !shown[what][i];
			b.setAttribute('aria-pressed', shown[what][i]);
			recount();
		};
		$('legend').append(b, ' ');
	});
}

function legend() {
	$('legend').replaceChildren();
	items('kind', D.kinds, by === 'access' && (i => theme().access[i & 3]));
	if (by === 'class')
		items('class', D.classes, i => theme().area[classColors.get(i)]);
}

build();
colors = rankModules();
classColors = rankClasses();
zoomed = root;
document.title = `${D.title}: page faults by stack`;
$('title').textContent = D.title;
$('notes').textContent = D.losses ? 'Events were lost: some faults are missing.' : '';
canvas.onmousemove = tip;
canvas.onmouseleave = () => { $('tip').style.display = 'none'; };
canvas.onclick = event => { const hit = at(event); if (hit) zoom(hit.n); };
$('reset').onclick = () => zoom(root);
$('turn').onclick = () => { up = !up; $('turn').textContent = up ? 'callers above' : 'callers below'; draw(); };
$('dark').onclick = () => { dark = !dark; dress(); };
$('find').oninput = () => { query = $('find').value.trim().toLowerCase(); draw(); };
document.querySelectorAll('[data-by]').forEach(b => { b.onclick = () => { by = b.dataset.by; dress(); }; });
onkeydown = event => {
	if (event.target === $('find') && event.key !== 'Escape')
		return;
	if (event.key === 'Escape' || event.key === '0')
		zoom(root);
	else if (event.key === 'd')
		$('dark').click();
	else if (event.key === '/') {
		$('find').focus();
		event.preventDefault();
	}
};
onresize = draw;
count(root);
dress();
