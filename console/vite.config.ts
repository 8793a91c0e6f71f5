import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { kindsPlugin } from "./kinds-plugin.ts";

/** Stands in the page where the server writes the nonce of each answer. */
export const NONCE_PLACEHOLDER = "__NONCE__";

/**
 * Code that seldom changes and that every page needs is apart from ours, so that a new version
 * of the console re-loads little. A group takes along what its modules import: one for the charts
 * would take what the first page needs too, and the first page would load the charts.
 */
const VENDORS = [
	["react", /node_modules\/(react|react-dom|scheduler)\//],
	["tanstack", /@tanstack\/(react-)?(router|query|store|history)/],
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
