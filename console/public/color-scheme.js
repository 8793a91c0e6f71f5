// This script applies the reader's choice of light or dark and of the density before the browser first paints the
// page, so that the colors do not flash.
(() => {
	let chosen = null;
	try {
		chosen = localStorage.getItem("mantine-color-scheme-value");
	} catch {
		// The browser blocks the storage, so the system's setting applies.
	}
	try {
		if (localStorage.getItem("assay-density") === "compact") {
			document.documentElement.setAttribute("data-density", "compact");
		}
	} catch {
		// As above.
	}
	const isKnown = chosen === "light" || chosen === "dark";
	const system = matchMedia("(prefers-color-scheme: dark)").matches
		? "dark"
		: "light";
	document.documentElement.setAttribute(
		"data-mantine-color-scheme",
		isKnown ? chosen : system,
	);
})();
