import { Group, Text } from "@mantine/core";
import {
	type Icon,
	IconDeviceLaptop,
	IconKey,
	IconTerminal2,
	IconUser,
} from "@tabler/icons-react";
import type { OperationName, OutputOf } from "../../api.ts";
import { kinds } from "../../kinds.ts";

export type Entry = OutputOf<"listAuditLog">["audit_entries"][number];
/** What a field was and became; an absent end: it is new, or gone. */
export type Ends = { before?: unknown; after?: unknown };

export const ACTORS: Record<
	Entry["actor_kind"],
	{ label: string; icon: Icon }
> = {
	USER: { label: "User", icon: IconUser },
	TOKEN: { label: "API token", icon: IconKey },
	AGENT: { label: "Agent", icon: IconDeviceLaptop },
	SYSTEM: { label: "System", icon: IconTerminal2 },
};

/** Who acted, and by what. */
export function Actor({ entry }: { entry: Entry }) {
	const { icon: Shape, label } = ACTORS[entry.actor_kind];
	return (
		<Group gap={8} wrap="nowrap" align="flex-start">
			<Shape size={16} aria-hidden style={{ flex: "none", marginTop: 3 }} />
			<div>
				<Text size="sm">{entry.actor_name}</Text>
				<Text size="xs" c="dimmed" lineClamp={2}>
					{label}
					{entry.token_name && `: ${entry.token_name}`}
				</Text>
			</div>
		</Group>
	);
}

const SPELT: Record<string, string> = {
	api: "API",
	"two factor": "two-factor",
	os: "OS",
	reissue: "re-issue",
	uuid: "UUID",
};

/** `revokeApiToken` and `two_factor` as people write them. */
export function inWords(name: string): string {
	const words = name
		.replace(/([a-z])([A-Z])/g, "$1 $2")
		.replaceAll("_", " ")
		.toLowerCase()
		.replace(
			/\b(api|os|reissue|two factor|uuid)\b/g,
			(word) => SPELT[word] ?? word,
		);
	return words.charAt(0).toUpperCase() + words.slice(1);
}

const DEVICES = [
	"addDevice",
	"updateDevice",
	"reissueEnrollmentToken",
	"revokeDevice",
	"deleteDevice",
] as const satisfies OperationName[];

const PEOPLE = [
	"inviteMember",
	"revokeInvitation",
	"acceptInvitation",
	"updateMember",
	"removeMember",
	"leaveOrganization",
	"createPasswordResetLink",
	"resetTwoFactor",
	"createApiToken",
	"rotateApiToken",
	"revokeApiToken",
	"revokeOrganizationApiToken",
] as const satisfies OperationName[];

const REST = [
	"importRecords",
	"updateProfile",
	"linkRecords",
	"unlinkRecords",
	"createOrganization",
	"updateOrganization",
	"updateOrganizationSettings",
] as const satisfies OperationName[];

/** What happens with an account or a device without being a call of ours. */
const EVENTS = [
	"signIn",
	"signOut",
	"changePassword",
	"requestPasswordReset",
	"resetPassword",
	"enableTwoFactor",
	"disableTwoFactor",
	"renewRecoveryCodes",
	"enrollDevice",
	"activateDevice",
	"reportDeviceConflict",
	"unenrollDevice",
];

/** What can be in the log, for the choice of a filter. */
export const actionGroups = [
	{
		group: "Records",
		items: kinds.flatMap(({ tool }) =>
			["add", "update", "delete"].map((verb) => choice(`${verb}${tool.one}`)),
		),
	},
	{ group: "Devices", items: DEVICES.map(choice) },
	{ group: "Members and tokens", items: PEOPLE.map(choice) },
	{ group: "Further", items: REST.map(choice) },
	{ group: "Accounts and agents", items: EVENTS.map(choice) },
];

export const kindOptions = [
	...kinds.map(({ kind, noun }) => ({ value: kind, label: inWords(noun) })),
	...[
		"device",
		"organization",
		"member",
		"invitation",
		"api_token",
		"user",
	].map(choice),
];

function choice(value: string) {
	return { value, label: inWords(value) };
}

/** What people call a kind of record in the log. */
export function kindLabel(kind: string): string {
	return (
		kindOptions.find(({ value }) => value === kind)?.label ?? inWords(kind)
	);
}

export function endsOf({ changes }: Entry): [string, Ends][] {
	return Object.entries(changes) as [string, Ends][];
}
