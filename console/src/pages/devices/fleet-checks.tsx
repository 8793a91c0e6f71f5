import { Box, Group, Text } from "@mantine/core";
import { Fragment } from "react";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Columns } from "../../parts/columns.tsx";
import {
	countedDevices,
	failingDevices,
} from "../../parts/devices/counted-devices.ts";
import {
	PARTS,
	type Part,
	PostureBar,
} from "../../parts/devices/posture-bar.tsx";
import { StateBar, StateLegend } from "../../parts/devices/state-bar.tsx";
import {
	isRequired,
	nameOfCheck,
	StatesInWords,
	statesOf,
} from "../../parts/devices/states-in-words.tsx";
import { TextLink } from "../../parts/links.tsx";
import { percentInWords, ROUNDED } from "../../parts/percent.ts";
import { PlainText } from "../../parts/plain-text.tsx";

type Summary = OutputOf<"listPostureSummary">;
type Check = Summary["checks"][number];

/** Returns the pass rate of a check, or why it has none. */
export function rateInWords(check: Check): string {
	if (check.pass_percent !== null) return percentInWords(check.pass_percent);
	return isRequired(check) ? "Excepted" : "Not required";
}

/** Draws the states of a check that the policy requires. For another one, what devices report. */
export function CheckParts({
	check,
	height,
}: {
	check: Check;
	height?: number;
}) {
	const size = height === undefined ? {} : { height };
	return isRequired(check) ? (
		<StateBar states={check.states} {...size} />
	) : (
		<PostureBar counts={check} {...size} />
	);
}

/** Shows all numbers of each check, and the versions of the agent. */
export function FleetChecks({ summary }: { summary: Summary }) {
	return (
		<Box mt="sm">
			<Group justify="flex-end" mb="xs">
				<StateLegend states={summary.checks.flatMap(statesOf)} />
			</Group>
			<Columns
				cols={{ base: 1, sm: 2, lg: 3 }}
				spacing="lg"
				verticalSpacing="sm"
			>
				{summary.checks.map((check) => (
					<CheckBar key={check.check_key} check={check} />
				))}
			</Columns>
			<AgentVersions summary={summary} />
			<Text size="xs" c="dimmed" mt="sm">
				A pass rate counts the active devices whose policy requires the check,
				without excepted ones. In grace and past grace, the check fails. Unknown
				and silent do not pass either. {ROUNDED}
				{summary.omitted_checks > 0 &&
					` ${summary.omitted_checks} less common checks are not shown.`}
			</Text>
		</Box>
	);
}

/** Names the versions of the agent with their numbers. Each one links to its devices. */
function AgentVersions({ summary }: { summary: Summary }) {
	const { organizationId } = useOrganization();
	const versions = summary.devices_by_agent_version ?? [];
	if (versions.length === 0) return null;
	return (
		<Text size="sm" mt="sm">
			Agent versions:{" "}
			{versions.map(({ agent_version: version, devices }, index) => (
				<Fragment key={version}>
					{index > 0 && " · "}
					<TextLink
						to="/o/$org/devices"
						params={{ org: organizationId }}
						search={{ status: "ACTIVE", agent_version: version }}
						inherit
					>
						{version}: {devices.toLocaleString()}
					</TextLink>
				</Fragment>
			))}
		</Text>
	);
}

function CheckBar({ check }: { check: Check }) {
	const { organizationId, day } = useOrganization();
	const name = nameOfCheck(check);
	return (
		<div>
			<Group justify="space-between" wrap="nowrap" gap="xs" mb={4}>
				<TextLink
					to="/o/$org/devices"
					params={{ org: organizationId }}
					search={failingDevices(check, day).search}
					// At a width of 1280 px, this size leaves room for the longest name of a check.
					fz={13}
					c="inherit"
					truncate
					title={`Devices that fail: ${name}`}
				>
					{name}
				</TextLink>
				<PlainText size="sm" fw={600} style={{ whiteSpace: "nowrap" }}>
					{rateInWords(check)}
				</PlainText>
			</Group>
			<CheckParts check={check} />
			<Text size="xs" c="dimmed" mt={4}>
				{isRequired(check) ? (
					<StatesInWords check={check} />
				) : (
					<PartsInWords check={check} name={name} />
				)}
			</Text>
		</div>
	);
}

/**
 * Says what devices report of a check that the policy does not require, for example "10 pass · 2
 * fail · 1 silent". Passes are always shown, and other states only if they are not zero. A state
 * links to its devices if a filter can express it.
 */
function PartsInWords({ check, name }: { check: Check; name: string }) {
	const { organizationId, day } = useOrganization();
	const parts = (Object.keys(PARTS) as Part[]).filter(
		(part) => part === "pass" || check[part] > 0,
	);
	return parts.map((part, index) => {
		const words = `${check[part].toLocaleString()} ${PARTS[part].label.toLowerCase()}`;
		const filter = FILTERS[part];
		return (
			<Fragment key={part}>
				{index > 0 && " · "}
				{filter && check[part] > 0 ? (
					<TextLink
						to="/o/$org/devices"
						params={{ org: organizationId }}
						search={{ ...countedDevices(day), [filter]: check.check_key }}
						inherit
						c="inherit"
						underline="always"
						aria-label={`${name}: ${words}`}
					>
						{words}
					</TextLink>
				) : (
					words
				)}
			</Fragment>
		);
	});
}

const FILTERS: { [P in Part]?: string } = {
	pass: "passing_check",
	fail: "failing_check",
	unknown: "unknown_check",
};
