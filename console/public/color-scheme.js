// This script applies the reader's choice of light or dark before the browser first paints the
// page, so that the colors do not flash.
(() => {
	let chosen = null;
	try {
		chosen = localStorage.getItem("mantine-color-scheme-value");
	} catch {
		// The browser blocks the storage, so the system's setting applies.
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
