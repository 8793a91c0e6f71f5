/** The country codes of ISO 3166-1 alpha-2, as of 2026. */
export const COUNTRIES: ReadonlySet<string> = new Set(
	`
		AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ
		BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR
		CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
		GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU
		ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ
		LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ
		MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF
		PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI
		SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR
		TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
	`
		.trim()
		.split(/\s+/),
);

const namesOf = (style: "long" | "short") =>
	new Intl.DisplayNames("en", { type: "region", style });
let longNames: Intl.DisplayNames | undefined;

/** Returns the English name of a country, such as "Germany" for "DE". */
export function countryName(code: string): string {
	// Making it takes a hundredth of a start, and most commands need no names.
	longNames ??= namesOf("long");
	return longNames.of(code) ?? code;
}

/** Returns the normal form of a name. Case, accents, blanks, "and" and apostrophes count for nothing. */
function keyOf(name: string): string {
	return name
		.normalize("NFD")
		.toLowerCase()
		.replace(/\band\b/g, "&")
		.replace(/[^\p{Letter}&]+/gu, "");
}

let codes: ReadonlyMap<string, string> | undefined;

function codesByKey(): ReadonlyMap<string, string> {
	const shortNames = namesOf("short");
	return new Map(
		[...COUNTRIES].flatMap((code) =>
			[shortNames.of(code) ?? code, countryName(code), code].map(
				(name): [string, string] => [keyOf(name), code],
			),
		),
	);
}

/**
 * Returns the code of the country that a text names by its code or by its English name, such as
 * "de", "Germany", "United Kingdom" or "UK". Returns undefined if it names none.
 */
export function readCountry(text: string): string | undefined {
	codes ??= codesByKey();
	return codes.get(keyOf(text));
}
