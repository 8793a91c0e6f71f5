import { type CSSVariablesResolver, createTheme } from "@mantine/core";
import { PICKER } from "./parts/pickers.ts";

const FONT =
	'"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif';

/**
 * The theme is calm and compact, with one accent color. White text on that color has a contrast
 * of more than 4.5 : 1.
 */
export const theme = createTheme({
	primaryColor: "indigo",
	primaryShade: { light: 8, dark: 8 },
	fontFamily: FONT,
	fontFamilyMonospace:
		'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
	fontSizes: { md: "0.9375rem", sm: "0.875rem", xs: "0.78125rem" },
	headings: {
		fontFamily: FONT,
		fontWeight: "600",
		sizes: {
			h1: { fontSize: "1.5rem", lineHeight: "1.3" },
			h2: { fontSize: "1.125rem", lineHeight: "1.4" },
			h3: { fontSize: "1rem", lineHeight: "1.4" },
		},
	},
	defaultRadius: "sm",
	cursorType: "pointer",
	respectReducedMotion: true,
	components: {
		Button: { defaultProps: { size: "sm" } },
		// Typing searches the options, and Enter chooses the first match. See parts/pickers.ts.
		Select: { defaultProps: PICKER },
		MultiSelect: { defaultProps: PICKER },
		// The placeholder takes the focus when a menu opens, but a menu may contain only items.
		Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
		Modal: {
			defaultProps: { centered: true },
			styles: { title: { fontWeight: 600, fontSize: "1.125rem" } },
		},
		// Without it, the header of a dialog would be a second banner of the page.
		ModalHeader: { defaultProps: { component: "div" } },
		DrawerHeader: { defaultProps: { component: "div" } },
		Notification: {
			// Green is the color of success. Failures set their own color.
			defaultProps: {
				color: "green.8",
				closeButtonProps: { "aria-label": "Dismiss" },
				// The gray below a title has too little contrast.
				styles: { description: { color: "var(--mantine-color-text)" } },
			},
		},
		Table: { defaultProps: { verticalSpacing: "xs" } },
	},
});

/**
 * Replaces colors of Mantine that have less contrast than WCAG AA requires: those of quiet text
 * and of elements under the pointer.
 */
export const cssVariables: CSSVariablesResolver = () => ({
	variables: {},
	light: {
		"--assay-page": "#f7f8fa",
		"--assay-focus": "#3b5bdb",
		"--assay-control": "#7d8590",
		"--assay-good": "#237a37",
		"--mantine-color-dimmed": "#545d69",
		"--mantine-color-placeholder": "#68717d",
		"--mantine-color-error": "#c92a2a",
		// The background of a quiet button under the pointer. On Mantine's own color, its text has a
		// contrast of only 4.1 : 1.
		"--mantine-color-indigo-light-hover": "#cbd6ff",
	},
	dark: {
		"--assay-page": "#1b1c1f",
		"--assay-focus": "#91a7ff",
		"--assay-control": "#8b929b",
		"--assay-good": "#69db7c",
		"--mantine-color-dimmed": "#b4b8bf",
		"--mantine-color-placeholder": "#9aa0a8",
		"--mantine-color-error": "#ff8787",
	},
});
