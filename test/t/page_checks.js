// What a driver asks of a page that is open.  Every check returns complaints, as texts: none
// if all is well.  The page itself has no script; these are injected.

const describe = (node) => {
	const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
	const section = element.closest('section[id]'), name = element.getAttribute('class');
	return `${section ? section.id + ': ' : ''}${element.localName}${name ? ' ' + name : ''} "${
		node.textContent.trim().slice(0, 40)}"`;
};

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Those that are laid out, with the box around their lines.  The link that skips is left of the
// page on purpose, until it has the focus.
const texts = (root = document.body) => {
	const found = [], walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	const range = document.createRange();
	for (let node; (node = walker.nextNode());) {
		const element = node.parentElement;
		range.selectNodeContents(node);
		const box = range.getBoundingClientRect();
		if (node.data.trim() && box.width > 0 && box.height > 0
			&& !element.closest('title, desc, .skip')
			&& element.checkVisibility({ visibilityProperty: true }))
			found.push({ node, element, box });
	}
	return found;
};

const overflow = (element) => (element instanceof SVGElement ? 'visible'
	: getComputedStyle(element).overflowX);

const isClipped = (element) => element !== document.body
	&& (overflow(element) !== 'visible' || isClipped(element.parentElement));

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

// Filled shapes of the figure that a text is in, as they are painted.
const shapesAround = (element) => all('rect, circle, path, use', element.closest('svg'))
	.filter((shape) => getComputedStyle(shape).fill !== 'none')
	.map((shape) => ({ shape, box: shape.getBoundingClientRect() }));

// What is painted below a text of a figure at a point, or else below an element of the page.  The
// background of body is that of the canvas.
const below = (element, shapes, x, y) => {
	const hit = shapes.findLast(({ box }) =>
		box.left <= x && x <= box.right && box.top <= y && y <= box.bottom);
	if (hit) return parseColour(getComputedStyle(hit.shape).fill);
	for (let e = element; e !== document.body; e = e.parentElement) {
		const colour = parseColour(getComputedStyle(e).backgroundColor);
		if (colour[3] !== 0) return colour;
	}
	return parseColour(getComputedStyle(document.body).backgroundColor);
};

// ------------------------------------------------------------------------- checks

const checks = {
	// Nothing lies beside the page, or beyond a margin.
	width(asked, margin = 0) {
		const complaints = [], scrolled = document.scrollingElement.scrollWidth;
		if (scrolled > asked + margin) complaints.push(`the page is ${scrolled} wide`);
		for (const { node, element, box: { left, right } } of texts())
			if (!isClipped(element) && (left < -margin - 0.5 || right > asked + margin + 0.5))
				complaints.push(`${describe(node)}: ${Math.round(left)} to ${Math.round(right)}`);
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
					complaints.push(`${describe(node)} leaves its figure`);
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
			const { opacity, fillOpacity, backgroundColor } = getComputedStyle(element);
			const alpha = parseColour(backgroundColor)[3] ?? 1;
			return opacity !== '1' || fillOpacity !== '1' || (alpha > 0 && alpha < 1);
		}).map((element) => `${describe(element)} is translucent`);
		for (const { node, element, box } of texts()) {
			const style = getComputedStyle(element), isSvg = element instanceof SVGElement;
			const colour = parseColour(isSvg ? style.fill : style.color);
			const shapes = isSvg ? shapesAround(element) : [];
			const worst = Math.min(...[0.1, 0.5, 0.9].map((share) => contrast(colour,
				below(element, shapes, box.left + share * box.width, (box.top + box.bottom) / 2))));
			if (worst < 4.5) complaints.push(`${describe(node)}: contrast ${worst.toFixed(2)}`);
		}
		return complaints;
	},

	// What can be used or scrolled is reached by keyboard, in its turn, and is seen then; what
	// scrolls has a name.
	keyboard() {
		const complaints = all('body *').filter((e) => ['auto', 'scroll'].includes(overflow(e))
			&& e.scrollWidth > e.clientWidth + 1 && !(e.tabIndex === 0 && e.ariaLabel))
			.map((e) => `${describe(e)} scrolls, but not by keyboard`);
		for (const element of all('a[href], summary, [tabindex]')) {
			if (!element.checkVisibility()) continue;
			element.focus();
			const style = getComputedStyle(element);
			const { left, right } = element.getBoundingClientRect();
			if (element.tabIndex !== 0) complaints.push(`${describe(element)} is out of turn`);
			else if (!element.matches(':focus-visible') || style.outlineStyle === 'none'
				|| parseFloat(style.outlineWidth) < 1 || right <= 0 || left >= innerWidth)
				complaints.push(`${describe(element)} has the focus, but it is not seen`);
		}
		return complaints;
	},
};
