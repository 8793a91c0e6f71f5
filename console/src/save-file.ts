/** Saves a file, as the browser does when the reader clicks a link to a download. */
export function saveFile(name: string, blob: Blob): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	// By then the browser has long started to read the URL, which it does as soon as the click is
	// handled.
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
