/** Saves a file in the way of a browser that downloads it when a link is clicked. */
export function saveFile(name: string, blob: Blob): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	// By then the browser has long started to read the URL, which it does as soon as the click is
	// handled.
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
