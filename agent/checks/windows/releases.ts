/**
 * A release and the last day on which Microsoft provides updates for each of its editions. The
 * dates come from Microsoft's release-information and life-cycle pages as of November 2026. `home`
 * covers Home and Pro, `business` covers Enterprise and Education, and `longTerm` is the LTSC
 * release of the same build.
 */
export interface Release {
	name: string;
	home: string;
	business: string;
	longTerm?: string;
	/** The last day of IoT Enterprise LTSC, if it differs from that of `longTerm`. */
	iotLongTerm?: string;
}

const release = (
	name: string,
	home: string,
	business: string,
	longTerm?: string,
	iotLongTerm?: string,
): Release => ({
	name,
	home,
	business,
	...(longTerm ? { longTerm } : {}),
	...(iotLongTerm ? { iotLongTerm } : {}),
});

export const CLIENT_RELEASES: Record<number, Release> = {
	10240: release("1507", "2017-05-09", "2017-05-09", "2025-10-14"),
	10586: release("1511", "2017-10-10", "2018-04-10"),
	14393: release("1607", "2018-04-10", "2019-04-09", "2026-10-13"),
	15063: release("1703", "2018-10-09", "2019-10-08"),
	16299: release("1709", "2019-04-09", "2020-10-13"),
	17134: release("1803", "2019-11-12", "2021-05-11"),
	17763: release("1809", "2020-11-10", "2021-05-11", "2029-01-09"),
	18362: release("1903", "2020-12-08", "2020-12-08"),
	18363: release("1909", "2021-05-11", "2022-05-10"),
	19041: release("2004", "2021-12-14", "2021-12-14"),
	19042: release("20H2", "2022-05-10", "2023-05-09"),
	19043: release("21H1", "2022-12-13", "2022-12-13"),
	19044: release(
		"21H2",
		"2023-06-13",
		"2024-06-11",
		"2027-01-12",
		"2032-01-13",
	),
	19045: release("22H2", "2025-10-14", "2025-10-14"),
	22000: release("21H2", "2023-10-10", "2024-10-08"),
	22621: release("22H2", "2024-10-08", "2025-10-14"),
	22631: release("23H2", "2025-11-11", "2026-11-10"),
	26100: release(
		"24H2",
		"2026-10-13",
		"2027-10-12",
		"2029-10-09",
		"2034-10-10",
	),
	26200: release("25H2", "2027-10-12", "2028-10-10"),
	26300: release("26H2", "2028-10-10", "2029-10-09"),
	28000: release("26H1", "2028-03-14", "2029-03-13"),
};

export const SERVER_RELEASES: Record<number, { name: string; until: string }> =
	{
		14393: { name: "2016", until: "2027-01-12" },
		17763: { name: "2019", until: "2029-01-09" },
		20348: { name: "2022", until: "2031-10-14" },
		25398: { name: "23H2", until: "2025-10-24" },
		26100: { name: "2025", until: "2034-11-14" },
	};

/**
 * The last build of the server channel that had two releases a year. Support for all its builds has
 * ended.
 */
export const LAST_SEMI_ANNUAL_SERVER = { build: 19042, until: "2022-08-09" };

/** Windows 10 22H2. Customers can buy extended security updates for it, one year at a time. */
export const EXTENDED_BUILD = 19045;
export const EXTENDED_YEARS: Record<string, string> = {
	"f520e45e-7413-4a34-a497-d2765967d094": "2026-10-13",
	"1043add5-23b1-4afb-9a0f-64343c8f3f8d": "2027-10-12",
	"83d49986-add3-41d7-ba33-87c7bfb5c0fb": "2028-10-10",
};

/**
 * The revision of the last free update. A device with a higher one has received extended security
 * updates.
 */
export const LAST_FREE_REVISION = 6456;
