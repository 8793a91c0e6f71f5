/** Matches a gap of a template, such as [contact], but neither a link nor the box of a task. */
const GAP = /\[([^[\]\n]{2,80})\](?!\()/g;

/** Returns the gaps of a template that nobody has filled in, each once. */
export const gapsIn = (markdown: string): string[] => [
	...new Set([...markdown.matchAll(GAP)].map(([gap]) => gap)),
];
