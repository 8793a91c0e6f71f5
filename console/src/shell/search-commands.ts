import { docs } from "virtual:docs";
import type { MantineColorScheme } from "@mantine/core";
import {
	type Icon,
	IconBook,
	IconBuilding,
	IconCamera,
	IconDeviceDesktop,
	IconDeviceLaptop,
	IconFolders,
	IconGridDots,
	IconHelp,
	IconHistory,
	IconHome,
	IconKey,
	IconListCheck,
	IconMoon,
	IconPlus,
	IconReport,
	IconShieldCog,
	IconSun,
	IconUserCircle,
	IconUsersGroup,
} from "@tabler/icons-react";
import type { LinkProps } from "@tanstack/react-router";
import { wordForms } from "../../../src/records/plurals.ts";
import {
	hasMistyped,
	lettersIn,
	mayBeMistyped,
} from "../../../src/records/typing-mistakes.ts";
import { describeKind } from "../kinds.ts";
import { POLICIES } from "../parts/devices/device-groups.ts";
import { REPORT_TITLES } from "../parts/report-titles.ts";
import { registerKinds } from "../register-kinds.ts";

export interface Destination {
	to: NonNullable<LinkProps["to"]>;
	params?: Record<string, string>;
	hash?: string;
}

/**
 * An action that the search offers besides opening a record: going to a page, adding a record, or
 * changing the theme.
 */
export interface Command {
	id: string;
	label: string;
	/** Other words by which people may look for the command. */
	words?: string;
	icon: Icon;
	to?: Destination;
	scheme?: MantineColorScheme;
}

interface Reader {
	org: string | undefined;
	mayWrite: boolean;
	mayAdmin: boolean;
	mayReadAuditLog: boolean;
}

/** Returns the commands that the reader's role permits. */
export function commandsFor(reader: Reader): {
	pages: Command[];
	actions: Command[];
	help: Command[];
} {
	return {
		pages: [...pagesOf(reader), ...personal],
		actions: [...additionsOf(reader), ...schemes],
		help,
	};
}

const personal: Command[] = [
	{
		id: "account",
		label: "Your account",
		words: "password profile two-factor sessions",
		icon: IconUserCircle,
		to: { to: "/account" },
	},
	{
		id: "help",
		label: "Help",
		words: "documentation manual guide how",
		icon: IconHelp,
		to: { to: "/help/$page", params: { page: "console" } },
	},
];

/** Words that a page of the documentation explains although its title lacks them. */
const EXPLAINED: Record<string, string> = {
	glossary:
		"words meaning residual inherent risk treatment nonconformity statement of applicability continual improvement control measure obligation coverage pass rate percentage rounded",
};

const help: Command[] = docs.map(({ name, title }) => ({
	id: `help ${name}`,
	label: title,
	words: `help ${EXPLAINED[name] ?? ""}`,
	icon: IconBook,
	to: { to: "/help/$page", params: { page: name } },
}));

/** Words by which people look for a report although its title lacks them. */
const REPORT_WORDS: Record<string, string> = {
	"risk-register": "residual inherent risk treatment",
	"statement-of-applicability": "soa controls",
};

const schemes: Command[] = [
	{ id: "light", label: "Light theme", icon: IconSun, scheme: "light" },
	{ id: "dark", label: "Dark theme", icon: IconMoon, scheme: "dark" },
	{
		id: "auto",
		label: "System theme",
		icon: IconDeviceDesktop,
		scheme: "auto",
	},
];

const AUDIT_LOG = "Audit log";

/** Returns true if the query asks for the audit log, which not everybody may read. */
export function asksForAuditLog(query: string): boolean {
	const page = { id: "", label: AUDIT_LOG, icon: IconHistory };
	// Fewer letters may ask for anything, such as "a" for the assets.
	return query.length >= 5 && matching([page], query).byLabel.length > 0;
}

function pagesOf({ org, mayWrite, mayReadAuditLog }: Reader): Command[] {
	if (!org) return [];
	const page = (
		label: string,
		icon: Icon,
		to: Destination["to"],
		words = "",
	): Command => ({
		id: `page ${label}`,
		label,
		words,
		icon,
		to: { to, params: { org } },
	});
	return [
		page("Home", IconHome, "/o/$org", "overview dashboard"),
		...(mayWrite
			? [page("First steps", IconListCheck, "/o/$org/first-steps", "begin")]
			: []),
		page("Devices", IconDeviceLaptop, "/o/$org/devices", "fleet laptops"),
		page(
			"Groups of devices",
			IconFolders,
			"/o/$org/devices/groups",
			"device groups",
		),
		page("Reports", IconReport, "/o/$org/reports", "print summary package"),
		...Object.entries(REPORT_TITLES).map(([report, title]) => ({
			id: `report ${report}`,
			label: `Report: ${title}`,
			words: REPORT_WORDS[report] ?? "",
			icon: IconReport,
			to: { to: "/o/$org/reports/$report" as const, params: { org, report } },
		})),
		page("Snapshots", IconCamera, "/o/$org/snapshots", "frozen moment"),
		...registerKinds.map(({ kind, label, icon }) => ({
			id: `page ${kind}`,
			label,
			icon,
			to: { to: "/o/$org/r/$kind" as const, params: { org, kind } },
		})),
		page(
			"Risk matrix",
			IconGridDots,
			"/o/$org/r/risk/matrix",
			"residual inherent",
		),
		page("Organization", IconBuilding, "/o/$org/settings/organization"),
		page(
			"Device policy",
			IconShieldCog,
			"/o/$org/settings/device-policy",
			"thresholds grace required checks",
		),
		{
			id: "page Policies of groups",
			label: "Policies of groups",
			words: "group policy device",
			icon: IconShieldCog,
			to: {
				to: "/o/$org/settings/device-policy",
				params: { org },
				hash: POLICIES,
			},
		},
		page("Members", IconUsersGroup, "/o/$org/settings/members", "invite users"),
		page("API tokens", IconKey, "/o/$org/settings/api-tokens", "mcp key"),
		...(mayReadAuditLog
			? [page(AUDIT_LOG, IconHistory, "/o/$org/settings/audit-log")]
			: []),
	];
}

function additionsOf({ org, mayWrite, mayAdmin }: Reader): Command[] {
	if (!org || !mayWrite) return [];
	return [
		...registerKinds.map(({ kind }) => ({
			id: `new ${kind}`,
			label: `New ${describeKind(kind).noun}`,
			words: "add create",
			icon: IconPlus,
			to: { to: "/o/$org/r/$kind/new" as const, params: { org, kind } },
		})),
		...(mayAdmin
			? [
					{
						id: "new device",
						label: "Add device",
						words: "new create enroll",
						icon: IconPlus,
						to: { to: "/o/$org/devices/new" as const, params: { org } },
					},
				]
			: []),
	];
}

/**
 * Returns the commands that match the query. Each word of the query, in singular or plural, must be
 * the beginning of a word in the command's label or in its other words.
 */
export function matching(
	commands: readonly Command[],
	query: string,
): { byLabel: Command[]; byOtherWords: Command[] } {
	const wanted = query
		.toLowerCase()
		.split(/\s+/)
		.filter(Boolean)
		.map(wordForms);
	const matches = (text: string) => {
		const all = text.toLowerCase().split(/\s+/);
		return wanted.every((forms) =>
			all.some((one) => forms.some((form) => one.startsWith(form))),
		);
	};
	const byLabel = commands.filter(({ label }) => matches(label));
	const byOtherWords = commands.filter(
		(command) =>
			!byLabel.includes(command) &&
			matches(`${command.label} ${command.words ?? ""}`),
	);
	return { byLabel, byOtherWords };
}

/**
 * Returns the commands whose label has the words of the query, each of which may have one typing
 * mistake.
 */
export function similarTo(
	commands: readonly Command[],
	query: string,
): Command[] {
	const wanted = lettersIn(query.toLowerCase());
	return commands.filter(({ label }) => {
		const text = label.toLowerCase();
		const all = lettersIn(text);
		return (
			wanted.length > 0 &&
			wanted.every(
				(word) =>
					all.some((one) => one.startsWith(word)) ||
					(mayBeMistyped(word) && hasMistyped(text, word)),
			)
		);
	});
}
