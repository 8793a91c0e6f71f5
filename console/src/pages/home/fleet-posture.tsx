import { Group, Stack, Text } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import type { ListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import {
	FRESHNESS,
	NOT_REPORTING,
	STATUSES,
} from "../../parts/devices/device-words.tsx";
import { outdatedAgents } from "../../parts/devices/outdated-agents.ts";
import { StateBar, StateLegend } from "../../parts/devices/state-bar.tsx";
import {
	isRequired,
	nameOfCheck,
	StateLink,
	statesOf,
} from "../../parts/devices/states-in-words.tsx";
import { TextLink } from "../../parts/links.tsx";
import { percentInWords, ROUNDED } from "../../parts/percent.ts";
import { PlainText } from "../../parts/plain-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

export type Summary = OutputOf<"listPostureSummary">;
type Check = Summary["checks"][number];

/**
 * The largest number of checks on the home page. The devices page shows the others, whose names any
 * agent may have made up.
 */
const MAX_CHECKS = 12;

/**
 * Shows the pass rate of the fleet and of each check that the device policy requires, and how many
 * devices do not pass.
 */
export function FleetPosture({ summary }: { summary: Summary }) {
	const { organizationId, mayAdmin } = useOrganization();
	const { devices_by_freshness: fresh, devices_by_status: status } = summary;
	const outdated = outdatedAgents(summary);
	const required = summary.checks.filter(isRequired);
	const reported = required.filter(isReported);
	const checks = reported.slice(0, MAX_CHECKS);
	const unreported = required.filter((check) => !isReported(check));
	const others = summary.checks.filter(
		(check) => isReported(check) && !isRequired(check),
	);
	const more =
		reported.length - checks.length + others.length + summary.omitted_checks;
	return (
		<Section
			title="Fleet posture"
			none={
				status.ACTIVE + status.PENDING > 0 ? undefined : (
					<>
						No device is enrolled.{" "}
						{mayAdmin && (
							<TextLink
								to="/o/$org/first-steps"
								params={{ org: organizationId }}
								search={{ step: "DEVICE" }}
								inherit
								underline="always"
							>
								Enroll a device
							</TextLink>
						)}
					</>
				)
			}
			more={
				<TextLink
					to="/o/$org/devices"
					params={{ org: organizationId }}
					size="sm"
				>
					All devices
				</TextLink>
			}
		>
			<Stack gap="md">
				<Group gap="xl" align="flex-start">
					{summary.pass_percent !== null && (
						<div>
							<Text fz={24} fw={600} lh={1.25} title={ROUNDED}>
								{percentInWords(summary.pass_percent)}
							</Text>
							<PlainText size="xs">Pass rate</PlainText>
						</div>
					)}
					{fresh &&
						(["ONLINE", "STALE", "MISSING"] as const).map((name) => (
							<Count
								key={name}
								count={fresh[name] ?? 0}
								badge={FRESHNESS[name]}
								search={{ status: "ACTIVE", freshness: name }}
							/>
						))}
					{!fresh && (
						<Count
							count={status.ACTIVE}
							badge={STATUSES.ACTIVE}
							search={{ status: "ACTIVE" }}
						/>
					)}
					{summary.not_reporting > 0 && (
						<Count
							count={summary.not_reporting}
							badge={NOT_REPORTING}
							search={{ freshness: "ONLINE", reporting: "NOT_REPORTING" }}
						/>
					)}
					<Count
						count={status.PENDING}
						badge={STATUSES.PENDING}
						search={{ status: "PENDING" }}
					/>
					{outdated && outdated.count > 0 && (
						<Count
							count={outdated.count}
							badge={{ label: "Agent outdated", tone: "warning" }}
							search={outdated.search}
						/>
					)}
				</Group>
				{checks.length > 0 && (
					<>
						<Group justify="space-between" gap="xs" align="baseline">
							<PlainText size="sm" c="dimmed">
								The pass rate counts the active devices for each check that the
								device policy requires. In grace, unknown and silent do not
								pass. Excepted devices do not count.
							</PlainText>
							<StateLegend states={checks.flatMap(statesOf)} />
						</Group>
						<ul className={styles.checks}>
							{checks.map((check) => (
								<CheckRow key={check.check_key} check={check} />
							))}
						</ul>
					</>
				)}
				{summary.active_devices > 0 && unreported.length > 0 && (
					<PlainText size="sm" c="dimmed">
						Not reported by any device yet:{" "}
						{unreported.map(nameOfCheck).join(", ")}.
					</PlainText>
				)}
				{more > 0 && (
					<TextLink
						to="/o/$org/devices"
						params={{ org: organizationId }}
						size="sm"
					>
						See the other checks
					</TextLink>
				)}
			</Stack>
		</Section>
	);
}

function Count({
	count,
	badge,
	search,
}: {
	count: number;
	badge: { label: string; tone: Parameters<typeof StatusBadge>[0]["tone"] };
	search: ListSearch;
}) {
	const { organizationId } = useOrganization();
	return (
		<TextLink
			to="/o/$org/devices"
			params={{ org: organizationId }}
			search={search}
			underline="never"
			c="inherit"
		>
			<Text span fz={24} fw={600} display="block" lh={1.25}>
				{count.toLocaleString()}
			</Text>
			<StatusBadge tone={badge.tone} label={badge.label} />
		</TextLink>
	);
}

function CheckRow({ check }: { check: Check }) {
	const name = nameOfCheck(check);
	return (
		<li className={styles.check}>
			<Text size="sm" truncate title={name}>
				{name}
			</Text>
			<StateBar states={check.states} height={12} />
			<div className={styles.rate}>
				<Rate check={check} />
			</div>
			<Group gap="0 12px" className={styles.wrong}>
				{statesOf(check)
					.filter((state) => state !== "PASSING")
					.toReversed()
					.map((state) => (
						<StateLink key={state} check={check} state={state} />
					))}
			</Group>
		</li>
	);
}

/** Shows the pass rate of a check. It links to the devices that pass. */
function Rate({ check }: { check: Check }) {
	const { organizationId } = useOrganization();
	const { pass_percent, states, check_key } = check;
	if (pass_percent === null) {
		return (
			<PlainText size="sm" c="dimmed">
				Excepted
			</PlainText>
		);
	}
	const share = percentInWords(pass_percent);
	if (states.PASSING === 0) {
		return (
			<PlainText size="sm" fw={600}>
				{share}
			</PlainText>
		);
	}
	return (
		<TextLink
			to="/o/$org/devices"
			params={{ org: organizationId }}
			search={{ status: "ACTIVE", check_state: "PASSING", check: check_key }}
			size="sm"
			lh="24px"
			c="inherit"
			fw={600}
			aria-label={`${nameOfCheck(check)}: ${share} pass, ${devices(states.PASSING)}`}
		>
			{share}
		</TextLink>
	);
}

function isReported({
	pass,
	fail,
	unknown,
	not_applicable,
	stale,
}: Check): boolean {
	return pass + fail + unknown + not_applicable + stale > 0;
}

function devices(count: number): string {
	return `${count.toLocaleString()} ${count === 1 ? "device" : "devices"}`;
}
