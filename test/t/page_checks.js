// What a driver asks of a page that is open.  Every check returns complaints, as texts: none
// if all is well.  The page itself has no script; these are injected.

const describe = (node) => {
	const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
	const section = element.closest('section[id], article[id], header, footer');
	const name = element.id ? '#' + element.id : element.getAttribute('class');
	return `${section ? (section.id || section.localName) + ': ' : ''}${element.localName}`
		+ `${name ? ' ' + name : ''} "${node.textContent.trim().slice(0, 40)}"`;
};

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Those that are laid out, with the box around their lines.
const texts = (root = document.body) => {
	const found = [], walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	const range = document.createRange();
	for (let node; (node = walker.nextNode());) {
		if (!node.data.trim()) continue;
		range.selectNodeContents(node);
		const element = node.parentElement, box = range.getBoundingClientRect();
		if (box.width > 0 && box.height > 0 && !element.closest('title, desc')
			&& element.checkVisibility({ visibilityProperty: true }))
			found.push({ node, element, box });
	}
	return found;
};

// Left of the page on purpose, until it has the focus.
const isParked = (element) => element.closest('.skip')
	&& element.closest('.skip') !== document.activeElement;

const clippingAncestor = (element) => {
	for (let e = element; e && e !== document.body; e = e.parentElement)
		if (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(e).overflowX)
			&& !(e instanceof SVGElement)) return e;
	return null;
};

// ------------------------------------------------------------------------- colours

const parseColour = (text) => text.match(/[\d.]+/g).map(Number);

const luminance = ([r, g, b]) => {
	const [x, y, z] = [r, g, b].map((v) => v / 255)
		.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
	return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};

const contrast = (a, b) => {
	const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
};

// The colour with which an element fills its place; undefined if it lets all through.
const paint = (element) => {
	const style = getComputedStyle(element), isSvg = element instanceof SVGElement;
	if (isSvg && !['rect', 'circle', 'path', 'use'].includes(element.localName)) return undefined;
	const text = isSvg ? style.fill : style.backgroundColor;
	return text === 'none' || parseColour(text)[3] === 0 ? undefined : parseColour(text);
};

// What is below a text at a point; undefined where the text is not on top.
const backgroundAt = (x, y, element) => {
	const stack = document.elementsFromPoint(x, y);
	const position = stack.findIndex((e) => element.contains(e) || e.contains(element));
	if (position < 0 || stack.slice(0, position).some(paint)) return undefined;
	// the background of body is that of the canvas, also beyond the edges of body
	return [...stack.slice(position), document.body].map(paint).find(Boolean);
};

// A text with a rim that is painted first lies on that rim.
const rimOf = (element) => {
	const style = getComputedStyle(element);
	const hasRim = element instanceof SVGElement && style.stroke !== 'none'
		&& style.paintOrder.startsWith('stroke') && parseFloat(style.strokeWidth) >= 2;
	return hasRim ? parseColour(style.stroke) : null;
};

const neededContrast = (style) => {
	const size = parseFloat(style.fontSize);
	return size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
};

// Scrolls to a text, and returns where its first line is then.
const bringIntoView = (node) => {
	const range = document.createRange();
	range.selectNodeContents(node);
	const clip = clippingAncestor(node.parentElement);
	const [before] = range.getClientRects();
	if (before.top < 0 || before.bottom > innerHeight) scrollBy(0, before.top - innerHeight / 2);
	if (clip) clip.scrollLeft += before.left - clip.getBoundingClientRect().left - 9;
	// a table of numbers may reach into the margin of the paper
	else if (before.left < 0) scrollBy(before.left - 9, 0);
	else if (before.right > innerWidth) scrollBy(before.right - innerWidth + 9, 0);
	return range.getClientRects()[0];
};

// ------------------------------------------------------------------------- checks

const checks = {
	openAll() {
		all('details').forEach((details) => { details.open = true; });
		return [];
	},

	// Nothing runs, nothing is fetched, and names inside of the page are unique.
	document() {
		const complaints = [], ids = new Set();
		if (document.compatMode !== 'CSS1Compat') complaints.push('no document type');
		for (const element of all('script, iframe, object, embed, link, img, base, form'))
			complaints.push(`${describe(element)} has no place here`);
		for (const element of all('*')) {
			if (element.id && ids.has(element.id)) complaints.push(`id ${element.id} is there twice`);
			ids.add(element.id);
			if (element.tabIndex > 0) complaints.push(`${describe(element)} is out of turn`);
			for (const { name, value } of element.attributes) {
				if (/^on/.test(name)) complaints.push(`${describe(element)} has ${name}`);
				if (/^(src|href|action|xlink:href)$/.test(name) && !value.startsWith('#'))
					complaints.push(`${describe(element)} refers to ${value}`);
			}
		}
		return complaints;
	},

	// The window is as wide as was asked for, and nothing lies beside it, or beyond a margin.
	width(asked, margin = 0) {
		const complaints = [];
		if (innerWidth !== asked) complaints.push(`the window is ${innerWidth} wide`);
		const scrolled = document.scrollingElement.scrollWidth;
		if (scrolled > asked + margin) complaints.push(`the page is ${scrolled} wide`);
		for (const { node, element, box: { left, right } } of texts()) {
			if (isParked(element) || clippingAncestor(element)) continue;
			if (left < -margin - 0.5 || right > asked + margin + 0.5)
				complaints.push(`${describe(node)} lies from ${Math.round(left)} to ${Math.round(right)}`);
		}
		return complaints;
	},

	// Labels of a figure stay inside of it (centred ones reach out by some pixels) and do
	// not cover each other.
	labels() {
		const complaints = [];
		for (const figure of all('figure')) {
			const outer = figure.getBoundingClientRect();
			const labels = texts(figure).filter(({ element }) => element instanceof SVGElement);
			labels.forEach(({ node, box: a }, i) => {
				if (a.left < outer.left - 8 || a.right > outer.right + 8)
					complaints.push(`${describe(node)} leaves its figure by ${
						Math.round(Math.max(outer.left - a.left, a.right - outer.right))}`);
				for (const { node: other, box: b } of labels.slice(i + 1))
					if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
						&& Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
						complaints.push(`${describe(node)} covers ${describe(other)}`);
			});
		}
		return complaints;
	},

	// WCAG 2, level AA, against what is painted below each text.  Nothing shines through, so that
	// this is one colour.
	contrast() {
		const complaints = all('body *').filter((element) => {
			const style = getComputedStyle(element), alpha = parseColour(style.backgroundColor)[3] ?? 1;
			return style.opacity !== '1' || style.fillOpacity !== '1' || (alpha > 0 && alpha < 1);
		}).map((element) => `${describe(element)} is translucent`);
		for (const { node, element } of texts()) {
			if (isParked(element)) continue;
			const style = getComputedStyle(element), box = bringIntoView(node);
			const colour = parseColour(element instanceof SVGElement ? style.fill : style.color);
			const below = [0.1, 0.5, 0.9].map((share) => box.left + share * box.width)
				.map((x) => backgroundAt(x, (box.top + box.bottom) / 2, element))
				.filter(Boolean).map((background) => rimOf(element) ?? background);
			const worst = Math.min(...below.map((background) => contrast(colour, background)));
			if (!below.length) complaints.push(`${describe(node)} is covered or cut off`);
			else if (worst < neededContrast(style))
				complaints.push(`${describe(node)} has a contrast of ${worst.toFixed(2)}`);
		}
		return complaints;
	},

	// What scrolls by itself must be reachable by keyboard, and have a name.
	scrollers() {
		return all('*').filter((e) => !(e instanceof SVGElement)
				&& ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)
				&& e.scrollWidth > e.clientWidth + 1)
			.filter((e) => e.tabIndex < 0 || !e.hasAttribute('tabindex') || !e.getAttribute('aria-label'))
			.map((e) => `${describe(e)} scrolls, but not by keyboard`);
	},

	// Returns how often to press the key; focusWas() reports what came of it.
	watchFocus() {
		checks.openAll();
		window.focused = [];
		document.activeElement.blur();
		getSelection().removeAllRanges();
		document.addEventListener('focusin', ({ target }) => {
			const style = getComputedStyle(target), box = target.getBoundingClientRect();
			window.focused.push({ target, isSeen: target.matches(':focus-visible')
				&& style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1
				&& box.width > 0 && box.right > 0 && box.left < innerWidth
				&& box.bottom > 0 && box.top < innerHeight });
		});
		scrollTo(0, 0);
		return [checks.focusable().length];
	},

	focusable() {
		return all('a[href], summary, [tabindex], button, input').filter((e) => !(e instanceof SVGElement)
			&& e.getClientRects().length);
	},

	focusWas() {
		const expected = checks.focusable(), seen = window.focused, complaints = [];
		if (!expected.length) complaints.push('nothing takes the focus');
		expected.forEach((element, i) => {
			if (!seen[i]) complaints.push(`${describe(element)} is not reached`);
			else if (seen[i].target !== element)
				complaints.push(`${describe(seen[i].target)} comes instead of ${describe(element)}`);
			else if (!seen[i].isSeen)
				complaints.push(`${describe(element)} has the focus, but it is not seen`);
		});
		return complaints;
	},
};
