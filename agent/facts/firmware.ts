/** Left in by makers of boards who never set their own; shared by thousands of machines. */
const JUNK_UUIDS = new Set([
	"03000200-0400-0500-0006-000700080009",
	"00020003-0004-0005-0006-000700080009",
	"12345678-1234-5678-90ab-cddeefaabbcc",
	"12345678-1234-1234-1234-123456789abc",
	"fefefefe-fefe-fefe-fefe-fefefefefefe",
]);

/** What makers write where they have no number. */
const JUNK_SERIAL =
	/^(to be filled by o\.?e\.?m\.?|default string|none|n\/?a|not (specified|available|applicable|provided)|unknown|invalid|empty|system serial number|chassis serial number|serial ?number|oem|o\.e\.m\.|0?123456789|1234567890?|xxx+|\.+|(.)\3*)$/i;

/** The hardware's UUID in lower case; undefined if it is none, or one that stands for none. */
export function realUuid(text: string | undefined): string | undefined {
	const uuid = text?.trim().toLowerCase() ?? "";
	if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid)) {
		return undefined;
	}
	const isOneDigit = new Set(uuid.replaceAll("-", "")).size === 1;
	return isOneDigit || JUNK_UUIDS.has(uuid) ? undefined : uuid;
}

/** The hardware's serial number; undefined if it is none, or words that stand for none. */
export function realSerial(text: string | undefined): string | undefined {
	const serial = text?.trim();
	return serial !== undefined &&
		/^[\x20-\x7e]{1,100}$/.test(serial) &&
		!JUNK_SERIAL.test(serial)
		? serial
		: undefined;
}
