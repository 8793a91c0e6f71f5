import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g;

/** Returns the Markdown files of a tree, except those of its packages. */
export function markdownFiles(tree: string): string[] {
	return readdirSync(tree, { recursive: true, encoding: "utf8" })
		.filter((name) => name.endsWith(".md") && !name.includes("node_modules/"))
		.map((name) => join(tree, name));
}

/** Returns the targets of a page's links to files that do not exist. */
export function deadLinks(file: string): string[] {
	return [...readFileSync(file, "utf8").matchAll(LINK)]
		.map(([, , , target = ""]) => target)
		.filter((target) => isDead(file, target));
}

/** Turns links to files that an installation does not contain into text, and removes such images. */
export function removeDeadLinks(tree: string): void {
	for (const file of markdownFiles(tree)) {
		const text = readFileSync(file, "utf8");
		const kept = text.replace(LINK, (link, image, words, target) => {
			if (!isDead(file, target)) return link;
			return image ? "" : words;
		});
		if (kept !== text) writeFileSync(file, kept);
	}
}

function isDead(file: string, target: string): boolean {
	const [path = ""] = target.split("#", 1);
	if (path === "" || /^[a-z]+:/.test(path)) return false;
	return !existsSync(join(dirname(file), path));
}
