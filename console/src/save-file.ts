/** Downloads a file, as if the reader had clicked a link to it. */
export function saveFile(name: string, blob: Blob): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	// The browser starts to read the URL as soon as the click is handled.
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
