/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the page of a plot says of itself, evaluated in it by tests/cli/plot.t: lines of TAP.
 */
(() => {
	const said = [], check = (name, ok) => said.push((ok ? 'ok ' : 'not ok ') + name);
	const all = D.summary.faults + D.summary.sampled, sum = map => [...map.values()].reduce((a, b) => a + b, 0);
	check('cells add up', C.count.reduce((a, b) => a + b, 0) === all);
	for (const what of ['access', 'class', 'thread', 'fault-class', 'heat'])
		check('legend adds up by ' + what, sum(setBy(what)) === all);
	setBy('access');
	check('all is drawn', draw() === all && spots.reduce((a, s) => a + s.count, 0) === all);
	const button = document.querySelector('#legend button'), count = +button.textContent.replace(/.*: /, '').replace(/,/g, '');
	button.click();
	check('a toggle hides', draw() === all - count && button.getAttribute('aria-pressed') === 'false');
	button.click();
	check('and shows again', draw() === all);
	if (spots.length) {
		check('hovering tells of them', spots.slice(-20).every(spot => {
			const tip = hover(spot.x, spot.y);
			said.push('# ' + tip.textContent.replace(/\n/g, '\n# '));
			return tip.style.display === 'block' &&
				/address +0x[0-9a-f]+\nregion .*\ninstruction .*\nthread .*\ntime +-?[0-9.]+ s/.test(tip.textContent);
		}));
	}
	check('elsewhere it does not', hover(-99, -99).style.display === 'none');
	const dark = color('ground');
	$('dark').click();
	check('dark and light differ', color('ground') !== dark);
	$('dark').click();
	check('nothing came from the network', !performance.getEntriesByType('resource').length);
	return said.join('\n');
})()
