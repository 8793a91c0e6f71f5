/** A gap of a template, such as [contact]. A link and the box of a task are none. */
const GAP = /\[([^[\]\n]{2,80})\](?!\()/g;

/** Returns the gaps of a template that nobody has filled in, each once. */
export const gapsIn = (markdown: string): string[] => [
	...new Set([...markdown.matchAll(GAP)].map(([gap]) => gap)),
];
