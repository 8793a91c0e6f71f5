/**
 * Dates on which Linux distributions stop providing free security updates, as of November 2026. The
 * dates of Debian and Ubuntu come from distro-info. The others come from endoflife.date, unless a
 * comment names another source. The dates of Debian are those of its LTS, because LTS updates come
 * through the ordinary archive.
 */

export interface Distribution {
	/**
	 * The number of parts of VERSION_ID that name a release. "9.5" of the series 9 has 1, and "24.04"
	 * has 2.
	 */
	parts: 1 | 2;
	/**
	 * The months for which each new release is supported at least. They tell how long a release that
	 * is newer than the table is supported, counted from the publication of the newest release in the
	 * table.
	 */
	leastMonths: number;
	newestReleased: string;
	supportedUntil: Record<string, string>;
}

/**
 * The last day of the maintenance phase. The dates of 7 to 9 come from endoflife.date/rhel, which
 * takes them from Red Hat's product life cycle data. The date of 10 follows from the ten years in
 * access.redhat.com/support/policy/updates/errata.
 */
const RHEL_LIFE = {
	"7": "2024-06-30",
	"8": "2029-05-31",
	"9": "2032-05-31",
	"10": "2035-05-31",
};

/**
 * The last day of general support for each service pack, without LTSS. The dates come from
 * suse.com/lifecycle: up to 15.5 through endoflife.date/sles, for 15.6 and 15.7 through DISA's
 * guide for SLES 15 of 2025. The date of 16.0 follows from the 24 months of SUSE's policy, because
 * no source that we could read gives the day.
 */
const SLES: Distribution = {
	parts: 2,
	leastMonths: 12,
	newestReleased: "2025-11-04",
	supportedUntil: {
		"12.5": "2024-10-31",
		"15": "2019-12-31",
		"15.1": "2021-01-31",
		"15.2": "2021-12-31",
		"15.3": "2022-12-31",
		"15.4": "2023-12-31",
		"15.5": "2024-12-31",
		"15.6": "2025-12-31",
		"15.7": "2031-07-31",
		"16.0": "2027-11-30",
	},
};

/** The distributions by the ID in os-release. */
export const DISTRIBUTIONS: Record<string, Distribution> = {
	debian: {
		parts: 1,
		leastMonths: 36,
		newestReleased: "2025-08-09",
		supportedUntil: {
			"8": "2020-06-30",
			"9": "2022-06-30",
			"10": "2024-06-30",
			"11": "2026-08-31",
			"12": "2028-06-30",
			"13": "2030-06-30",
		},
	},
	ubuntu: {
		parts: 2,
		leastMonths: 9,
		newestReleased: "2026-04-23",
		supportedUntil: {
			"14.04": "2019-04-25",
			"16.04": "2021-04-30",
			"18.04": "2023-05-31",
			"20.04": "2025-05-29",
			"20.10": "2021-07-22",
			"21.04": "2022-01-20",
			"21.10": "2022-07-14",
			"22.04": "2027-06-01",
			"22.10": "2023-07-20",
			"23.04": "2024-01-25",
			"23.10": "2024-07-11",
			"24.04": "2029-05-31",
			"24.10": "2025-07-10",
			"25.04": "2026-01-15",
			"25.10": "2026-07-09",
			"26.04": "2031-05-29",
		},
	},
	fedora: {
		parts: 1,
		leastMonths: 13,
		newestReleased: "2025-10-28",
		supportedUntil: {
			"36": "2023-05-16",
			"37": "2023-12-05",
			"38": "2024-05-21",
			"39": "2024-11-26",
			"40": "2025-05-13",
			"41": "2025-12-15",
			"42": "2026-05-13",
			"43": "2026-12-09",
		},
	},
	rhel: {
		parts: 1,
		leastMonths: 120,
		newestReleased: "2025-05-20",
		supportedUntil: RHEL_LIFE,
	},
	almalinux: {
		parts: 1,
		leastMonths: 120,
		newestReleased: "2025-05-27",
		supportedUntil: {
			"8": "2029-03-01",
			"9": "2032-05-31",
			"10": "2035-05-31",
		},
	},
	// The dates of 8 and 9 come from wiki.rockylinux.org/rocky/version, through
	// endoflife.date/rocky-linux. The date of 10 is that of RHEL 10.
	rocky: {
		parts: 1,
		leastMonths: 120,
		newestReleased: "2025-06-11",
		supportedUntil: {
			"8": "2029-05-31",
			"9": "2032-05-31",
			"10": "2035-05-31",
		},
	},
	// These are the dates of Premier Support. Those of 7 to 9 come from
	// oracle.com/a/ocom/docs/elsp-lifetime-069338.pdf, through endoflife.date/oracle-linux. The date
	// of 10 follows from the ten years of the same policy.
	ol: {
		parts: 1,
		leastMonths: 120,
		newestReleased: "2025-06-26",
		supportedUntil: {
			"7": "2024-12-31",
			"8": "2029-07-31",
			"9": "2032-06-30",
			"10": "2035-06-30",
		},
	},
	// The dates cover CentOS Linux 6, 7 and 8, and CentOS Stream from 8 on. Both CentOS Linux 8 and
	// CentOS Stream 8 have reached their end.
	centos: {
		parts: 1,
		leastMonths: 60,
		newestReleased: "2024-12-12",
		supportedUntil: {
			"6": "2020-11-30",
			"7": "2024-06-30",
			"8": "2024-05-31",
			"9": "2027-05-31",
			"10": "2030-01-01",
		},
	},
	sles: SLES,
	sled: SLES,
	"opensuse-leap": {
		parts: 2,
		leastMonths: 18,
		newestReleased: "2025-10-01",
		supportedUntil: {
			"15.3": "2022-12-31",
			"15.4": "2023-12-07",
			"15.5": "2024-12-31",
			"15.6": "2026-04-30",
			"16.0": "2027-10-31",
		},
	},
	// The date of 2 comes from aws.amazon.com/amazon-linux-2/faqs. The date of 2023 is the end of its
	// maintenance phase, from docs.aws.amazon.com/linux/al2023/ug/release-cadence.html. 2018 is the
	// AMI before these two.
	amzn: {
		parts: 1,
		leastMonths: 48,
		newestReleased: "2023-03-15",
		supportedUntil: {
			"2": "2026-06-30",
			"2018": "2023-12-31",
			"2023": "2029-06-30",
		},
	},
	alpine: {
		parts: 2,
		leastMonths: 22,
		newestReleased: "2025-12-04",
		supportedUntil: {
			"3.16": "2024-05-23",
			"3.17": "2024-11-22",
			"3.18": "2025-05-09",
			"3.19": "2025-11-01",
			"3.20": "2026-04-01",
			"3.21": "2026-11-01",
			"3.22": "2027-05-01",
			"3.23": "2027-11-01",
		},
	},
};

/**
 * Releases by their codename. A derived distribution names the codename of the release that it is
 * built on, and gets its security updates from that release.
 */
export const CODENAMES: Record<
	string,
	[distribution: string, release: string]
> = {
	focal: ["ubuntu", "20.04"],
	jammy: ["ubuntu", "22.04"],
	noble: ["ubuntu", "24.04"],
	resolute: ["ubuntu", "26.04"],
	buster: ["debian", "10"],
	bullseye: ["debian", "11"],
	bookworm: ["debian", "12"],
	trixie: ["debian", "13"],
};

/** Rolling distributions. They have no releases, so nothing of them can be out of support. */
export const ROLLING: ReadonlySet<string> = new Set([
	"arch",
	"archarm",
	"artix",
	"cachyos",
	"chimera",
	"endeavouros",
	"garuda",
	"gentoo",
	"kali",
	"manjaro",
	"opensuse-slowroll",
	"opensuse-tumbleweed",
	"solus",
	"void",
]);
