import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "vite";

const NAME = "virtual:docs";
const RESOLVED = `\0${NAME}`;
const FOLDER = join(import.meta.dirname, "../docs");

/** A list of titles is easier to search if "The" does not count. */
const sortKey = (title: string) => title.replace(/^The /, "").toLowerCase();

/**
 * Provides `virtual:docs`, the pages of the folder docs: the title of each, and a function that
 * loads its Markdown. A browser loads only the page that the reader opens.
 */
export function docsPlugin(): Plugin {
	return {
		name: "assay-docs",
		resolveId: (id) => (id === NAME ? RESOLVED : undefined),
		load: async (id) => {
			if (id !== RESOLVED) return undefined;
			const files = (await readdir(FOLDER)).filter((file) =>
				file.endsWith(".md"),
			);
			const pages = await Promise.all(
				files.map(async (file) => {
					const path = join(FOLDER, file);
					const title = /^# (.*)$/m.exec(await readFile(path, "utf8"))?.[1];
					const name = file.slice(0, -".md".length);
					return {
						title: title ?? name,
						code: `{ name: ${JSON.stringify(name)}, title: ${JSON.stringify(title ?? name)}, load: () => import(${JSON.stringify(`${path}?raw`)}) }`,
					};
				}),
			);
			const sorted = pages.sort((a, b) =>
				sortKey(a.title).localeCompare(sortKey(b.title), "en"),
			);
			return `export const docs = [${sorted.map(({ code }) => code).join(",\n")}];`;
		},
	};
}
