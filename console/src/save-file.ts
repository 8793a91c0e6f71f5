/** Gives the reader a file, as if they had clicked a link to it. */
export function saveFile(name: string, blob: Blob): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	// The browser has begun to read it once the click has been handled.
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
