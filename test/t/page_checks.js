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

// Those that are laid out, with the boxes of their lines.
const texts = (root = document.body) => {
	const found = [], walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	const range = document.createRange();
	for (let node; (node = walker.nextNode());) {
		if (!node.data.trim()) continue;
		range.selectNodeContents(node);
		const boxes = [...range.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
		if (boxes.length && node.parentElement.checkVisibility({ visibilityProperty: true }))
			found.push({ node, element: node.parentElement, boxes });
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

const parseColour = (text) => {
	const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
	return { r, g, b, a };
};

const over = (top, bottom) => ({
	r: top.r * top.a + bottom.r * (1 - top.a),
	g: top.g * top.a + bottom.g * (1 - top.a),
	b: top.b * top.a + bottom.b * (1 - top.a), a: 1 });

const luminance = ({ r, g, b }) => {
	const [x, y, z] = [r, g, b].map((v) => v / 255)
		.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
	return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};

const contrast = (a, b) => {
	const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
};

const opacityOf = (element) => {
	let opacity = 1;
	for (let e = element; e; e = e.parentElement) opacity *= Number(getComputedStyle(e).opacity);
	return opacity;
};

// The colour with which an element fills its place; null if it lets all through.
const paint = (element) => {
	const style = getComputedStyle(element);
	const isShape = element instanceof SVGElement;
	const shapes = ['rect', 'circle', 'path', 'use', 'polygon', 'ellipse'];
	if (isShape && !shapes.includes(element.localName)) return null;
	const text = isShape ? style.fill : style.backgroundColor;
	if (text === 'none') return null;
	const colour = parseColour(text);
	return { ...colour, a: colour.a * (isShape ? Number(style.fillOpacity) : 1) * opacityOf(element) };
};

// What is below a text at a point; null where the text is not on top.
const backgroundAt = (x, y, element) => {
	const stack = document.elementsFromPoint(x, y);
	const position = stack.findIndex((e) => element.contains(e) || e.contains(element));
	if (position < 0 || stack.slice(0, position).some((e) => paint(e)?.a > 0.5)) return null;
	const dark = matchMedia('(prefers-color-scheme: dark)').matches
		&& getComputedStyle(document.documentElement).colorScheme.includes('dark');
	const canvas = dark ? { r: 18, g: 18, b: 18, a: 1 } : { r: 255, g: 255, b: 255, a: 1 };
	// the background of body is that of the canvas, also beyond the edges of body
	return [document.body, ...stack.slice(position).reverse()].map(paint).filter(Boolean)
		.reduce((below, colour) => over(colour, below), canvas);
};

const foregroundOf = (element, background) => {
	const style = getComputedStyle(element), isSvg = element instanceof SVGElement;
	const colour = parseColour(isSvg ? style.fill : style.color);
	const opacity = opacityOf(element) * (isSvg ? Number(style.fillOpacity) : 1);
	return over({ ...colour, a: colour.a * opacity }, background);
};

// A text with a rim that is painted first lies on that rim.
const rimOf = (element) => {
	const style = getComputedStyle(element);
	const hasRim = element instanceof SVGElement && style.stroke !== 'none'
		&& style.paintOrder.startsWith('stroke') && parseFloat(style.strokeWidth) >= 2;
	return hasRim ? parseColour(style.stroke) : null;
};

const neededContrast = (element) => {
	const style = getComputedStyle(element), size = parseFloat(style.fontSize);
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

	// Nothing runs, nothing is fetched, and names inside of the page are unique and exist.
	document() {
		const complaints = [];
		if (document.compatMode !== 'CSS1Compat') complaints.push('no document type');
		if (!document.documentElement.lang) complaints.push('the page names no language');
		if (!document.title.trim()) complaints.push('the page has no title');
		for (const element of all('script, iframe, object, embed, link, img, base, form'))
			complaints.push(`${describe(element)} has no place here`);
		const ids = new Set();
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
		for (const element of all('[href^="#"], [aria-labelledby], [aria-describedby]'))
			for (const id of `${element.getAttribute('href')?.slice(1) ?? ''} ${
				element.getAttribute('aria-labelledby') ?? ''} ${
				element.getAttribute('aria-describedby') ?? ''}`.split(' '))
				if (id && !ids.has(decodeURIComponent(id)))
					complaints.push(`${describe(element)} refers to #${id}, which is not there`);
		return complaints;
	},

	headings() {
		const complaints = [];
		let last = 0;
		for (const heading of all('h1, h2, h3, h4, h5, h6')) {
			const level = Number(heading.localName[1]);
			if (level > last + 1) complaints.push(`${describe(heading)} comes after h${last}`);
			last = level;
		}
		if (all('h1').length !== 1) complaints.push(`${all('h1').length} headings of the first level`);
		return complaints;
	},

	// Each figure in words (title and desc) and in numbers (a table).
	figures() {
		const complaints = [];
		for (const figure of all('figure')) {
			if (!all('table tbody td', figure).length) complaints.push(`${describe(figure)} has no table`);
			const plots = all('svg', figure).filter((svg) => !svg.parentElement.closest('svg')
				&& !svg.closest('[aria-hidden=true]'));
			if (!plots.length) complaints.push(`${describe(figure)} has no plot`);
			for (const svg of plots) {
				for (const part of ['title', 'desc'])
					if (!svg.querySelector(`:scope > ${part}`)?.textContent.trim())
						complaints.push(`${describe(svg)} has no ${part}`);
				if (svg.getAttribute('role') !== 'img' || !svg.hasAttribute('aria-labelledby'))
					complaints.push(`${describe(svg)} is not named as an image`);
			}
		}
		for (const table of all('table')) {
			if (!table.caption?.textContent.trim()) complaints.push(`${describe(table)} has no caption`);
			if (!all('thead th', table).length) complaints.push(`${describe(table)} has no head`);
			const width = table.rows[0]?.cells.length;
			for (const row of table.rows)
				if ([...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0) !== width)
					complaints.push(`${describe(row)} is not as wide as the first row`);
		}
		return complaints;
	},

	// The window is as wide as was asked for, and nothing lies beside it, or beyond a margin.
	width(asked, margin = 0) {
		const complaints = [];
		if (innerWidth !== asked) complaints.push(`the window is ${innerWidth} wide`);
		const scrolled = document.scrollingElement.scrollWidth;
		if (scrolled > asked + margin) complaints.push(`the page is ${scrolled} wide`);
		for (const { node, element, boxes } of texts()) {
			if (isParked(element) || clippingAncestor(element)) continue;
			const left = Math.min(...boxes.map((box) => box.left));
			const right = Math.max(...boxes.map((box) => box.right));
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
			const labels = texts(figure).filter(({ element }) => element instanceof SVGElement
				&& !element.closest('title, desc'));
			const boxes = labels.map(({ boxes: lines }) => ({
				left: Math.min(...lines.map((b) => b.left)), right: Math.max(...lines.map((b) => b.right)),
				top: Math.min(...lines.map((b) => b.top)), bottom: Math.max(...lines.map((b) => b.bottom)) }));
			boxes.forEach((a, i) => {
				if (a.left < outer.left - 8 || a.right > outer.right + 8)
					complaints.push(`${describe(labels[i].node)} leaves its figure by ${
						Math.round(Math.max(outer.left - a.left, a.right - outer.right))}`);
				for (let j = i + 1; j < boxes.length; j++) {
					const b = boxes[j];
					if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
						&& Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
						complaints.push(`${describe(labels[i].node)} covers ${describe(labels[j].node)}`);
				}
			});
		}
		return complaints;
	},

	// WCAG 2, level AA, against what is painted below each text.
	contrast() {
		const complaints = new Map();
		for (const { node, element } of texts()) {
			if (isParked(element) || element.closest('title, desc')) continue;
			const box = bringIntoView(node);
			const points = [0.1, 0.5, 0.9].map((share) => box.left + share * box.width);
			const below = points.map((x) => backgroundAt(x, (box.top + box.bottom) / 2, element))
				.filter(Boolean).map((colour) => rimOf(element) ?? colour);
			if (!below.length) {
				complaints.set(describe(node), `${describe(node)} is covered or cut off`);
				continue;
			}
			const worst = Math.min(...below.map((b) => contrast(foregroundOf(element, b), b)));
			if (worst < neededContrast(element))
				complaints.set(describe(node), `${describe(node)} has a contrast of ${worst.toFixed(2)}`);
		}
		return [...complaints.values()];
	},

	// What scrolls by itself must be reachable by keyboard, and have a name.
	scrollers() {
		return all('*').filter((e) => !(e instanceof SVGElement)
				&& ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)
				&& e.scrollWidth > e.clientWidth + 1)
			.filter((e) => e.tabIndex < 0 || !e.hasAttribute('tabindex') || !e.getAttribute('aria-label'))
			.map((e) => `${describe(e)} scrolls, but not by keyboard`);
	},

	// Returns how often to press the key; focusWas() tells what came of it.
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
