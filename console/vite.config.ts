import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { docsPlugin } from "./docs-plugin.ts";
import { idsPlugin } from "./ids-plugin.ts";
import { kindsPlugin } from "./kinds-plugin.ts";
import { zipPlugin } from "./zip-plugin.ts";

/** Our own modules and the icons. A page needs many of them. */
const OURS = /\/src\/|tabler|kinds/;
/** Modules that the pages about devices need, and others too, but not the first page. */
const FURTHER =
	/parts\/(?:field-labels|save-once|copy-field|local-address|csv-choice|devices\/(?:posture-bar|device-groups|ask-exception|exception-days|no-group))|pages\/devices\//;
/**
 * Modules that are in neither of our shared files, because the first page and most others need none
 * of them: settings, reports, plots, comments, texts in Markdown, and what makes PDF files, such as
 * the library restructure.
 */
const RARE =
	/exports\/|restructure\/|parts\/(?:plots\/|markdown\/|report-titles|membership-limits|change-role|leave-organization|records\/comments-panel)|pages\/(?:(?:reports|settings)\/|registers\/documents\/(?:rendered|version-facts|what-is-new))/;

/**
 * The files that several pages use. On a slow line each further file costs more than its bytes: with
 * a file for each module, a list took 43 requests to open.
 *
 * - vendor: the libraries that every page needs. They change less often than our own code, so
 *   browsers keep the file when the console is upgraded.
 * - shared: our own modules that the first page needs too.
 * - further: those of the pages about devices, which the first page does not need.
 */
const CHUNKS = [
	{
		name: "vendor",
		priority: 3,
		test: /node_modules\/(react|react-dom|scheduler|@mantine\/(?!tiptap)[^/]+|@floating-ui|@tanstack)\//,
	},
	{
		name: "shared",
		priority: 2,
		test: (id: string) => OURS.test(id) && !FURTHER.test(id) && !RARE.test(id),
		minShareCount: 2,
	},
	{ name: "further", priority: 1, test: FURTHER, minShareCount: 2 },
];

export default defineConfig({
	root: import.meta.dirname,
	plugins: [react(), kindsPlugin(), docsPlugin(), idsPlugin(), zipPlugin()],
	build: {
		target: "es2023",
		emptyOutDir: true,
		assetsInlineLimit: 0,
		cssCodeSplit: false,
		modulePreload: { polyfill: false },
		reportCompressedSize: false,
		rolldownOptions: {
			output: {
				codeSplitting: {
					groups: CHUNKS,
				},
			},
		},
	},
});
