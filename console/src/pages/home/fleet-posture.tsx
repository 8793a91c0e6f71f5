import { Group, Stack, Text } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import type { ListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { countedDevices } from "../../parts/devices/counted-devices.ts";
import {
	FRESHNESS,
	NOT_REPORTING,
	STATUSES,
} from "../../parts/devices/device-words.tsx";
import { useOutdatedAgents } from "../../parts/devices/outdated-agents.ts";
import { Legend, PostureBar } from "../../parts/devices/posture-bar.tsx";
import { TextLink } from "../../parts/links.tsx";
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
 * Shows how many devices pass and fail each check. Silent devices are counted separately and never
 * as passing.
 */
export function FleetPosture({ summary }: { summary: Summary }) {
	const { organizationId } = useOrganization();
	const { devices_by_freshness: fresh, devices_by_status: status } = summary;
	const outdated = useOutdatedAgents(summary.active_devices > 0);
	const reported = summary.checks.filter(isReported);
	const checks = reported.slice(0, MAX_CHECKS);
	const unreported = summary.checks.filter((check) => !isReported(check));
	const more = reported.length - checks.length + summary.omitted_checks > 0;
	return (
		<Section
			title="Fleet posture"
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
				<Group gap="xl">
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
							<Text size="sm" c="dimmed">
								{fresh
									? "Pass rate of online devices. Silent devices are left out here. Measures and controls show the proved rate: of all devices that the policy requires, where silent ones do not pass."
									: "Pass rate of the active devices that reported. Devices that did not report never count as passing."}
							</Text>
							<Legend />
						</Group>
						<ul className={styles.checks}>
							{checks.map((check) => (
								<CheckRow key={check.check_key} check={check} />
							))}
						</ul>
					</>
				)}
				{summary.active_devices > 0 && unreported.length > 0 && (
					<Text size="sm" c="dimmed">
						Not reported by any device yet: {unreported.map(nameOf).join(", ")}.
					</Text>
				)}
				{more && (
					<TextLink
						to="/o/$org/devices"
						params={{ org: organizationId }}
						size="sm"
					>
						See the less common checks
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
	const name = nameOf(check);
	return (
		<li className={styles.check}>
			<Text size="sm" truncate title={name}>
				{name}
			</Text>
			<PostureBar counts={check} height={12} />
			<div className={styles.rate}>
				{check.pass_percent === null ? (
					<Text size="sm" c="dimmed">
						No data
					</Text>
				) : (
					<CheckLink
						search={{ passing_check: check.check_key }}
						label={`${name}: ${percent(check)} pass, ${devices(check.pass)}`}
						isStrong
					>
						{percent(check)}
					</CheckLink>
				)}
			</div>
			<Group gap="sm" wrap="nowrap" className={styles.wrong}>
				{check.fail > 0 && (
					<CheckLink
						search={{ failing_check: check.check_key }}
						label={`${name}: ${check.fail.toLocaleString()} failing`}
					>
						{check.fail.toLocaleString()} failing
					</CheckLink>
				)}
				{check.unknown > 0 && (
					<CheckLink
						search={{ unknown_check: check.check_key }}
						label={`${name}: ${check.unknown.toLocaleString()} unknown`}
					>
						{check.unknown.toLocaleString()} unknown
					</CheckLink>
				)}
			</Group>
		</li>
	);
}

function CheckLink({
	search,
	label,
	isStrong = false,
	children,
}: {
	search: ListSearch;
	label: string;
	isStrong?: boolean;
	children: React.ReactNode;
}) {
	const { organizationId, day } = useOrganization();
	return (
		<TextLink
			to="/o/$org/devices"
			params={{ org: organizationId }}
			search={{ ...countedDevices(day), ...search }}
			size="sm"
			aria-label={label}
			style={{ whiteSpace: "nowrap" }}
			{...(isStrong ? { c: "inherit", fw: 600 } : {})}
		>
			{children}
		</TextLink>
	);
}

function nameOf({ check_name, check_key }: Check): string {
	return check_name ?? check_key;
}

function isReported(check: Check): boolean {
	const { pass, fail, unknown, not_applicable, stale } = check;
	return pass + fail + unknown + not_applicable + stale > 0;
}

function percent({ pass_percent }: Check): string {
	return `${(pass_percent ?? 0).toLocaleString()}%`;
}

function devices(count: number): string {
	return `${count.toLocaleString()} ${count === 1 ? "device" : "devices"}`;
}
