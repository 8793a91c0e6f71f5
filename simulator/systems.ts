import type { Platform } from "../src/devices/terms.ts";
import type { Weighted } from "./random.ts";

/** A release of an operating system, with the name that the agent reports. */
export interface Version extends Weighted {
	name: string;
	/** The version as the evidence of OS_VERSION contains it. */
	version: string;
	build?: string;
	/**
	 * The last day with security updates, as YYYY-MM-DD, or only the month if the day is an estimate.
	 * Undefined if the maker names no day.
	 */
	supportedUntil?: string;
}

/** A kind of machine that organizations use, with its operating system. */
export interface System extends Weighted {
	platform: Platform;
	/**
	 * The name in the evidence, such as `ubuntu` or `debian`. Undefined if the platform has only one.
	 */
	distribution?: string;
	hasDesktop: boolean;
	/** True for a laptop. */
	isMobile: boolean;
	/** The beginning of the host name. */
	prefix: string;
	domain: string;
	/** The length of the serial number. 0 if there is none, as on a virtual machine. */
	serialLength: number;
	versions: readonly Version[];
}

const UBUNTU: readonly Version[] = [
	{
		weight: 7,
		name: "Ubuntu 24.04.3 LTS",
		version: "24.04",
		supportedUntil: "2029-05-31",
	},
	{
		weight: 3,
		name: "Ubuntu 22.04.5 LTS",
		version: "22.04",
		supportedUntil: "2027-06-01",
	},
	{
		weight: 0.4,
		name: "Ubuntu 20.04.6 LTS",
		version: "20.04",
		supportedUntil: "2025-05-31",
	},
];
const DEBIAN: readonly Version[] = [
	{
		weight: 5,
		name: "Debian GNU/Linux 13 (trixie)",
		version: "13",
		supportedUntil: "2030-06-30",
	},
	{
		weight: 4,
		name: "Debian GNU/Linux 12 (bookworm)",
		version: "12",
		supportedUntil: "2028-06-30",
	},
];

const WINDOWS_11: readonly Version[] = [
	{
		weight: 6,
		name: "Windows 11 Pro 25H2 (26200.7171)",
		version: "25H2",
		build: "26200.7171",
		supportedUntil: "2027-10-12",
	},
	{
		weight: 1,
		name: "Windows 11 Pro 24H2 (26100.7171)",
		version: "24H2",
		build: "26100.7171",
		supportedUntil: "2026-10-13",
	},
];

/**
 * The weights add up to a hundred. A quarter of the machines are laptops, and the rest are desktops
 * and servers.
 */
export const SYSTEMS: readonly System[] = [
	{
		weight: 13,
		platform: "DARWIN",
		hasDesktop: true,
		isMobile: true,
		prefix: "mbp",
		domain: ".local",
		serialLength: 10,
		versions: [
			{
				weight: 7,
				name: "macOS 26.1 (25B78)",
				version: "26.1",
				build: "25B78",
				supportedUntil: "2028-09",
			},
			{
				weight: 3,
				name: "macOS 15.7.2 (24G325)",
				version: "15.7.2",
				build: "24G325",
				supportedUntil: "2027-09",
			},
			{
				weight: 0.6,
				name: "macOS 13.7.8 (22H730)",
				version: "13.7.8",
				build: "22H730",
				supportedUntil: "2025-09-15",
			},
		],
	},
	{
		weight: 6,
		platform: "WINDOWS",
		hasDesktop: true,
		isMobile: true,
		prefix: "LT",
		domain: "",
		serialLength: 8,
		versions: WINDOWS_11,
	},
	{
		weight: 4,
		platform: "LINUX",
		distribution: "ubuntu",
		hasDesktop: true,
		isMobile: true,
		prefix: "nb",
		domain: "",
		serialLength: 8,
		versions: UBUNTU,
	},
	{
		weight: 1,
		platform: "LINUX",
		distribution: "fedora",
		hasDesktop: true,
		isMobile: true,
		prefix: "ws",
		domain: "",
		serialLength: 8,
		versions: [
			{
				weight: 1,
				name: "Fedora Linux 43 (Workstation Edition)",
				version: "43",
				supportedUntil: "2026-12-09",
			},
		],
	},
	{
		weight: 38,
		platform: "WINDOWS",
		hasDesktop: true,
		isMobile: false,
		prefix: "DESK",
		domain: "",
		serialLength: 8,
		versions: WINDOWS_11,
	},
	{
		weight: 19,
		platform: "LINUX",
		distribution: "debian",
		hasDesktop: false,
		isMobile: false,
		prefix: "app",
		domain: ".int.example.com",
		serialLength: 0,
		versions: DEBIAN,
	},
	{
		weight: 12,
		platform: "LINUX",
		distribution: "ubuntu",
		hasDesktop: false,
		isMobile: false,
		prefix: "db",
		domain: ".int.example.com",
		serialLength: 0,
		versions: UBUNTU,
	},
	{
		weight: 7,
		platform: "FREEBSD",
		hasDesktop: false,
		isMobile: false,
		prefix: "stor",
		domain: ".int.example.com",
		serialLength: 10,
		versions: [
			{
				weight: 5,
				name: "FreeBSD 14.4-RELEASE-p2",
				version: "14.4-RELEASE-p2",
				supportedUntil: "2026-12-31",
			},
			{
				weight: 3,
				name: "FreeBSD 15.1-RELEASE",
				version: "15.1-RELEASE",
				supportedUntil: "2027-03-31",
			},
			{
				weight: 0.5,
				name: "FreeBSD 13.5-RELEASE-p7",
				version: "13.5-RELEASE-p7",
				supportedUntil: "2026-04-30",
			},
		],
	},
];

/** Versions of the agent. Most devices have the newest one, and a few still have an old one. */
export const AGENT_VERSIONS = [
	{ weight: 8, name: "0.1.0" },
	{ weight: 2, name: "0.0.9" },
	{ weight: 0.5, name: "0.0.7" },
] as const;
