// This script applies the reader's choice of light or dark and of the density before the browser first
// paints the page, so that the colors do not flash. Paper is white, so a page is printed in light
// colors.
(() => {
	try {
		if (localStorage.getItem("assay-density") === "compact") {
			document.documentElement.setAttribute("data-density", "compact");
		}
	} catch {
		// The browser blocks the storage, so the rows have their usual height.
	}
	const chosenScheme = () => {
		try {
			return localStorage.getItem("mantine-color-scheme-value");
		} catch {
			// The browser blocks the storage, so the system's setting applies.
			return null;
		}
	};
	const show = (scheme) =>
		document.documentElement.setAttribute("data-mantine-color-scheme", scheme);
	const showOnScreen = () => {
		const chosen = chosenScheme();
		const isKnown = chosen === "light" || chosen === "dark";
		const system = matchMedia("(prefers-color-scheme: dark)").matches
			? "dark"
			: "light";
		show(isKnown ? chosen : system);
	};
	showOnScreen();
	addEventListener("beforeprint", () => show("light"));
	addEventListener("afterprint", showOnScreen);
	// Developer tools show a page as it would be printed without these events.
	matchMedia("print").addEventListener("change", ({ matches }) =>
		matches ? show("light") : showOnScreen(),
	);
})();
