import { Anchor, Paper, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useState } from "react";
import { Columns } from "../../parts/columns.tsx";
import {
	type Device,
	FRESHNESS,
	platformLabel,
} from "../../parts/devices/device-words.tsx";
import { Fact } from "../../parts/fact.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { TextLink } from "../../parts/links.tsx";
import { useRecordNames } from "../../parts/records/record-names.ts";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { AgentVersion } from "./agent-version.tsx";
import { Compliance } from "./compliance.tsx";

const LABELS = FIELD_LABELS.device;

type Named = [string, React.ReactNode];
const fact = (name: string, value: React.ReactNode): Named => [name, value];

/** Number of facts that a phone shows at first, so that the results of the checks are in view. */
const FIRST = 4;

/** Shows what the agent has reported about the device, and the device's owner. */
export function Facts({ device }: { device: Device }) {
	const isPhone = useMediaQuery("(max-width: 37.5em)");
	const [isUnfolded, setUnfolded] = useState(false);
	const isFolded = isPhone && !isUnfolded;
	const facts: Named[] = [
		[
			"Device policy",
			device.compliance && <Compliance key="compliance" device={device} />,
		],
		...(device.group_policies?.length
			? [fact("Policy in force", <Policy device={device} />)]
			: []),
		[LABELS.owner_id, <Owner key="owner" device={device} />],
		[LABELS.hostname, device.hostname],
		[LABELS.platform, device.platform && platformLabel(device.platform)],
		[LABELS.os_version, device.os_version],
		[LABELS.agent_version, <AgentVersion key="agent" device={device} />],
		[LABELS.serial_number, device.serial_number],
		[LABELS.hardware_uuid, device.hardware_uuid],
		[
			"Last seen",
			device.last_seen_at && (
				<>
					<RelativeTime value={device.last_seen_at} />
					{device.freshness !== "ONLINE" && (
						<Text span size="xs" c="dimmed" display="block">
							{FRESHNESS[device.freshness].means}
						</Text>
					)}
				</>
			),
		],
		[
			"Last report",
			device.last_reported_at && (
				<RelativeTime value={device.last_reported_at} />
			),
		],
		[
			"Enrolled",
			device.enrolled_at && <DateTime key="e" value={device.enrolled_at} />,
		],
		...(device.groups?.length
			? [fact("Groups", <Groups device={device} />)]
			: []),
		...(device.enrollment_key_name
			? [fact(LABELS.enrolled_with, device.enrollment_key_name)]
			: []),
		...(device.predecessor_id
			? [
					fact(
						LABELS.predecessor_id,
						<OtherRecord device={device} id={device.predecessor_id} />,
					),
				]
			: []),
		...(device.successor_id
			? [
					fact(
						LABELS.successor_id,
						<OtherRecord device={device} id={device.successor_id} />,
					),
				]
			: []),
		["Added", <DateTime key="added" value={device.created_at} />],
		...(device.revoked_at
			? [fact("Revoked", <DateTime value={device.revoked_at} />)]
			: []),
	];
	return (
		<Paper withBorder p="md" component="section" aria-label="Details">
			<Columns
				as="dl"
				cols={{ base: 2, md: 3, lg: 4 }}
				spacing="lg"
				verticalSpacing="sm"
			>
				{(isFolded ? facts.slice(0, FIRST) : facts).map(([name, value]) => (
					<Fact key={name} name={name}>
						{value || "–"}
					</Fact>
				))}
			</Columns>
			{isPhone && (
				<Anchor
					component="button"
					type="button"
					mt="sm"
					aria-expanded={!isFolded}
					onClick={() => setUnfolded(!isUnfolded)}
				>
					{isFolded ? "All details" : "Fewer details"}
				</Anchor>
			)}
		</Paper>
	);
}

function Owner({ device }: { device: Device }) {
	const { owner_id, owner_name, organization_id } = device;
	if (!owner_id) return <>Unassigned</>;
	return (
		<TextLink
			to="/o/$org/r/$kind/$id"
			params={{ org: organization_id, kind: "people", id: owner_id }}
			inherit
		>
			{owner_name}
		</TextLink>
	);
}

function Groups({ device }: { device: Device }) {
	return device.groups?.map(({ id, name }, index) => (
		<span key={id}>
			{index > 0 && ", "}
			<TextLink
				to="/o/$org/devices"
				params={{ org: device.organization_id }}
				search={{ group_id: id }}
				inherit
			>
				{name}
			</TextLink>
		</span>
	));
}

/** Says which policy applies to a device whose groups have policies, and why. */
function Policy({ device }: { device: Device }) {
	const policies = device.group_policies ?? [];
	const used = policies.find(({ applies }) => applies);
	const others = policies.filter(({ applies }) => !applies);
	const names = others.map(
		({ group_name, priority }) => `“${group_name}” (${priority})`,
	);
	return (
		<>
			<TextLink
				to="/o/$org/settings/device-policy"
				params={{ org: device.organization_id }}
				inherit
			>
				{used
					? `“${used.group_name}” (${used.priority})`
					: "The organization's"}
			</TextLink>
			<Text span size="xs" c="dimmed" display="block">
				{whyOf(used !== undefined, names)}
			</Text>
		</>
	);
}

const whyOf = (isOfGroup: boolean, others: readonly string[]) => {
	if (!isOfGroup) {
		return `The policy of ${others.join(", ")} applies within a minute.`;
	}
	return others.length === 0
		? "The device is in this group."
		: `Of its groups, this one comes first. The others: ${others.join(", ")}.`;
};

/** Links to the record that the same machine had before, or has since. */
function OtherRecord({ device, id }: { device: Device; id: string }) {
	const { organization_id: org } = device;
	const name = useRecordNames(org, [id]).get(id);
	return (
		<TextLink to="/o/$org/devices/$id" params={{ org, id }} inherit>
			{name ?? "another record"}
		</TextLink>
	);
}
