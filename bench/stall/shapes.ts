/**
 * Texts of about `bytes` bytes. The length or the shape of each is the worst case for some check.
 */
export const TEXTS: Record<string, (bytes: number) => string> = {
	letters: (bytes) => "a".repeat(bytes),
	blanks: (bytes) => " ".repeat(bytes),
	"an address that ends in a blank": (bytes) =>
		`http://${"a".repeat(bytes - 8)} `,
	"an e-mail address without end": (bytes) => `a@${"a.".repeat(bytes / 2)}`,
	separators: (bytes) => ",;".repeat(bytes / 2),
	quotes: (bytes) => '"'.repeat(bytes / 2),
	"control characters": (bytes) => "\u0001".repeat(bytes / 6),
	"half surrogates": (bytes) => "\ud800".repeat(bytes / 6),
	"combining characters": (bytes) => "e\u0301".repeat(bytes / 3),
	digits: (bytes) => "9".repeat(bytes),
};

/** Complete JSON bodies whose shape is the worst case for the service. */
export const BODIES: Record<string, (bytes: number) => string> = {
	"deep arrays": (bytes) => "[".repeat(bytes / 2) + "]".repeat(bytes / 2),
	"deep objects": (bytes) =>
		`${'{"a":'.repeat(bytes / 6)}1${"}".repeat(bytes / 6)}`,
	"many unknown keys": (bytes) =>
		`{${Array.from({ length: bytes / 12 }, (_, n) => `"k${n}":1`).join()}}`,
	"a long number": (bytes) => `{"size":${"9".repeat(bytes - 10)}}`,
	"broken JSON": (bytes) => `{"a":"${"a".repeat(bytes - 8)}`,
	"an array in place of an object": (bytes) =>
		`[${"1,".repeat(bytes / 2 - 2)}1]`,
};

/** Values for a field that takes an array, which are the worst case for some check. */
export const LISTS: Record<string, (bytes: number) => unknown[]> = {
	"many empty texts": (bytes) => Array(Math.floor(bytes / 4)).fill(""),
	"many ids": (bytes) => Array(Math.floor(bytes / 36)).fill("A".repeat(32)),
	"many objects": (bytes) => Array(Math.floor(bytes / 4)).fill({}),
};
