import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { docsPlugin } from "./docs-plugin.ts";
import { kindsPlugin } from "./kinds-plugin.ts";

/** Marks the places in the page into which the server writes the nonce of each response. */
export const NONCE_PLACEHOLDER = "__NONCE__";

/**
 * The libraries that every page needs are one chunk. They change less often than our own code, so
 * browsers keep it when the console is upgraded. Our own modules that several pages use are another
 * chunk, because on a slow line each further file costs more than its bytes: with a chunk for each,
 * a list took 42 requests to open. Modules of the pages about devices and settings are not part of it,
 * because the first page needs none of them. Neither are reports, plots, and what makes PDF files, such
 * as the library restructure, comments, and parts of dialogs with secrets, files, groups or exceptions.
 * Labels of fields, and the modules of other pages that use them, are not part of it either.
 */
const CHUNKS = [
	{
		name: "vendor",
		test: /node_modules\/(react|react-dom|scheduler|@mantine\/(?!tiptap)[^/]+|@floating-ui|@tanstack)\//,
	},
	{
		name: "shared",
		test: /^(?!.*\/(?:exports\/|restructure\/|parts\/(?:plots\/|field-labels|save-once|copy-field|local-address|csv-choice|report-titles|membership-limits|change-role|leave-organization|records\/comments-panel|devices\/(?:posture-bar|device-groups|ask-exception|exception-days|no-group))|pages\/(?:(?:reports|devices|settings)\/|registers\/documents\/version-facts))).*(?:\/src\/|tabler|kinds)/,
		minShareCount: 2,
	},
];

export default defineConfig({
	root: import.meta.dirname,
	plugins: [react(), kindsPlugin(), docsPlugin()],
	html: { cspNonce: NONCE_PLACEHOLDER },
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
