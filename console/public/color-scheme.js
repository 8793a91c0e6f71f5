// The reader's choice of light or dark, set before the first paint so that nothing flashes.
(() => {
	let chosen = null;
	try {
		chosen = localStorage.getItem("mantine-color-scheme-value");
	} catch {
		// Storage is refused: the system's choice counts.
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
