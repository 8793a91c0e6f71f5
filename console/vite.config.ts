import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { kindsPlugin } from "./kinds-plugin.ts";

/** Marks the places in the page into which the server writes the nonce of each response. */
export const NONCE_PLACEHOLDER = "__NONCE__";

/**
 * Libraries that every page needs are separate chunks. They change less often than our own code, so
 * browsers keep them when the console is upgraded.
 */
const VENDORS = [
	["react", /node_modules\/(react|react-dom|scheduler)\//],
	["tanstack", /@tanstack\/(react-)?(router|query|store|history)/],
	// One chunk for all components. With a chunk for each, a list took 15 more requests to open.
	["mantine", /node_modules\/(@mantine|@floating-ui)\//],
] as const;

export default defineConfig({
	root: import.meta.dirname,
	plugins: [react(), kindsPlugin()],
	html: { cspNonce: NONCE_PLACEHOLDER },
	build: {
		target: "es2023",
		emptyOutDir: true,
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		reportCompressedSize: false,
		rolldownOptions: {
			output: {
				codeSplitting: {
					groups: VENDORS.map(([name, test]) => ({ name, test })),
				},
			},
		},
	},
});
