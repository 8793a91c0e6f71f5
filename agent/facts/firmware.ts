/** UUIDs of makers who did not set their own. Thousands of machines share each of them. */
const JUNK_UUIDS = new Set([
	"03000200-0400-0500-0006-000700080009",
	"00020003-0004-0005-0006-000700080009",
	"12345678-1234-5678-90ab-cddeefaabbcc",
	"12345678-1234-1234-1234-123456789abc",
	"fefefefe-fefe-fefe-fefe-fefefefefefe",
]);

/** Matches texts that makers enter instead of a serial number. */
const JUNK_SERIAL =
	/^(to be filled by o\.?e\.?m\.?|default string|none|n\/?a|not (specified|available|applicable|provided)|unknown|invalid|empty|system serial number|chassis serial number|serial ?number|oem|o\.e\.m\.|0?123456789|1234567890?)$/i;

/**
 * Returns the hardware's UUID in lower case. Returns undefined if the text is not a UUID or is a
 * placeholder.
 */
export function realUuid(text: string | undefined): string | undefined {
	const uuid = text?.trim().toLowerCase() ?? "";
	if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid)) {
		return undefined;
	}
	const isOneDigit = new Set(uuid.replaceAll("-", "")).size === 1;
	return isOneDigit || JUNK_UUIDS.has(uuid) ? undefined : uuid;
}

/**
 * Returns the hardware's serial number. Returns undefined if the text is a placeholder or cannot be
 * a serial number.
 */
export function realSerial(text: string | undefined): string | undefined {
	const serial = text?.trim();
	if (serial === undefined || !/^[\x20-\x7e]{1,100}$/.test(serial)) {
		return undefined;
	}
	const isOneCharacter = new Set(serial.toLowerCase()).size === 1;
	return isOneCharacter || JUNK_SERIAL.test(serial) ? undefined : serial;
}
