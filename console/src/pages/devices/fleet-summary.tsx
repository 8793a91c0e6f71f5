import {
	Box,
	Button,
	Group,
	Paper,
	Skeleton,
	Text,
	Title,
	VisuallyHidden,
} from "@mantine/core";
import { useDisclosure, useMediaQuery } from "@mantine/hooks";
import { IconChevronDown } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { CHECK_KEYS } from "../../../../src/devices/terms.ts";
import type { OutputOf } from "../../api.ts";
import type { ListControls, ListSearch } from "../../list-search.ts";
import { NARROW } from "../../narrow-screens.ts";
import { useOrganization } from "../../organization.ts";
import { COMPLIANT_BY_EXCEPTION } from "../../parts/devices/by-exception.ts";
import { failingDevices } from "../../parts/devices/counted-devices.ts";
import {
	COMPLIANCES,
	FRESHNESS,
	NOT_REPORTING,
	STATUSES,
} from "../../parts/devices/device-words.tsx";
import { outdatedAgents } from "../../parts/devices/outdated-agents.ts";
import styles from "../../parts/devices/postures.module.css";
import { nameOfCheck } from "../../parts/devices/states-in-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { ButtonLink, TextLink } from "../../parts/links.tsx";
import { ROUNDED } from "../../parts/percent.ts";
import { PlainText } from "../../parts/plain-text.tsx";
import { operationQuery } from "../../queries.ts";
import { CheckParts, FleetChecks, rateInWords } from "./fleet-checks.tsx";
import { mayIncludeSilent, SilentIncluded } from "./silent-included.tsx";

type Summary = OutputOf<"listPostureSummary">;
type Check = Summary["checks"][number];

export function summaryQuery(organizationId: string) {
	return operationQuery("listPostureSummary", {
		organization_id: organizationId,
	});
}

/**
 * Counts the devices below the heading. Each number is a link that filters the list. The numbers do
 * not follow the list's filter, and say so, because a second count of a large fleet takes long.
 */
export function FleetCounts({
	isReady,
	list,
}: {
	isReady: boolean;
	list: ListControls;
}) {
	const { organizationId, mayAdmin, day } = useOrganization();
	const { data } = useQuery({
		...summaryQuery(organizationId),
		enabled: isReady,
		refetchInterval: day ? false : 60_000,
	});
	if (!data) return null;
	const outdated = outdatedAgents(data);
	const { devices_by_freshness: fresh, devices_by_status: status } = data;
	const silent = fresh ? fresh.STALE + fresh.MISSING + data.not_reporting : 0;
	// The heartbeats of the past are not known.
	const byHeartbeat: Count[] = fresh
		? [
				...(["ONLINE", "STALE", "MISSING"] as const).map(
					(one): Count => [
						fresh[one],
						FRESHNESS[one].label,
						{ status: "ACTIVE", freshness: one },
					],
				),
				[
					data.not_reporting,
					NOT_REPORTING.label,
					{ freshness: "ONLINE", reporting: "NOT_REPORTING" },
				],
			]
		: [[status.ACTIVE, STATUSES.ACTIVE.label, { status: "ACTIVE" }]];
	const counts: Count[] = [
		...byHeartbeat,
		[status.PENDING, STATUSES.PENDING.label, { status: "PENDING" }],
		[status.REVOKED, STATUSES.REVOKED.label, { status: "REVOKED" }],
		[outdated?.count ?? 0, "Agent outdated", outdated?.search ?? {}],
		[
			mayAdmin ? (data.owners_to_confirm ?? 0) : 0,
			"Owner to confirm",
			{ has_claimed_owner: true },
		],
	];
	const byCompliance: Count[] = [
		...(Object.keys(COMPLIANCES) as (keyof typeof COMPLIANCES)[]).map(
			(one): Count => [
				data.devices_by_compliance[one],
				COMPLIANCES[one].label,
				{ status: "ACTIVE", compliance: one },
			],
		),
		[
			data.compliant_by_exception,
			OF_THESE_BY_EXCEPTION,
			{ status: "ACTIVE", ...COMPLIANT_BY_EXCEPTION },
		],
	];
	return (
		<>
			<Group gap="0 32px">
				{list.hasFilters && (
					<PlainText size="sm" lh="24px">
						All devices:
					</PlainText>
				)}
				<CountLinks
					label={fresh ? "By heartbeat" : "By status"}
					counts={counts.filter(([count], index) => count > 0 || index < 3)}
				/>
				<CountLinks
					label="By the device policy"
					counts={byCompliance.filter(([count]) => count > 0)}
				/>
			</Group>
			{silent > 0 && mayIncludeSilent(list.filters) && (
				<SilentIncluded
					filters={list.filters}
					check={data.checks.find(
						({ check_key }) => check_key === list.filters.failing_check,
					)}
				/>
			)}
		</>
	);
}

/** The devices that "Compliant" counts too. */
const OF_THESE_BY_EXCEPTION = "of these by exception";

/** The devices whose owner only the installer has named. */
type Count = [count: number, label: string, search: ListSearch];

function CountLinks({
	label,
	counts,
}: {
	/** Text that tells screen readers what the numbers are. */
	label: string;
	counts: readonly Count[];
}) {
	const { organizationId } = useOrganization();
	return (
		<Group gap="0 16px" role="group" aria-label={label}>
			{counts.map(([count, name, search]) => (
				<TextLink
					key={name}
					to="/o/$org/devices"
					params={{ org: organizationId }}
					search={search}
					size="sm"
					// The least height of a target, WCAG 2.5.8.
					lh="24px"
					c="inherit"
				>
					<PlainText span inherit fw={600} c="var(--mantine-color-text)">
						{count.toLocaleString()}
					</PlainText>{" "}
					{name}
				</TextLink>
			))}
		</Group>
	);
}

/**
 * Sums up the checks of the fleet in one line above the list. A check opens the list of the devices
 * that fail it; the button opens all numbers.
 */
export function FleetSummary({ isReady }: { isReady: boolean }) {
	const { organizationId, day } = useOrganization();
	const [isOpen, { toggle }] = useDisclosure();
	// A phone has no room for the bars of the strip. A frame around the two buttons would look empty.
	const isFramed = !useMediaQuery(NARROW) || isOpen;
	const summary = useQuery({
		...summaryQuery(organizationId),
		enabled: isReady,
		refetchInterval: day ? false : 60_000,
	});
	if (summary.isPending) return <StripSkeleton />;
	if (summary.isError) {
		return <ErrorState error={summary.error} onRetry={summary.refetch} />;
	}
	const { data } = summary;
	if (data.active_devices === 0) return null;
	return (
		<Paper
			withBorder={isFramed}
			bg={isFramed ? "var(--mantine-color-body)" : "transparent"}
			px={isFramed ? 6 : 0}
			py={5}
			mb={8}
			component="section"
			aria-label="Fleet"
		>
			<div className={styles.strip}>
				{isOpen ? (
					<Title order={2} fz="sm" fw={500} lh="24px" visibleFrom="sm">
						Checks of the active devices
					</Title>
				) : (
					data.checks
						.slice(0, CHECK_KEYS.length)
						.map((check) => <CheckTile key={check.check_key} check={check} />)
				)}
				<Group gap={0} justify="flex-end">
					<Button
						variant="subtle"
						size="compact-xs"
						px={4}
						h={24}
						aria-expanded={isOpen}
						onClick={toggle}
						rightSection={
							<IconChevronDown
								size={14}
								aria-hidden
								style={{ rotate: isOpen ? "180deg" : "none" }}
							/>
						}
					>
						All numbers
					</Button>
					<ButtonLink
						to="/o/$org/devices/period"
						params={{ org: organizationId }}
						variant="subtle"
						size="compact-xs"
						px={4}
						h={24}
					>
						In a period
					</ButtonLink>
				</Group>
			</div>
			{isOpen && <FleetChecks summary={data} />}
		</Paper>
	);
}

/** Has the height of the strip at each width, so that the list does not move. */
function StripSkeleton() {
	return (
		<Skeleton px={7} py={6} mb={8}>
			<div className={styles.strip}>
				{CHECK_KEYS.map((key) => (
					<Box key={key} h={34} visibleFrom="sm" />
				))}
				<Box h={24} />
			</div>
		</Skeleton>
	);
}

/** Shows the pass rate of one check in the strip. */
function CheckTile({ check }: { check: Check }) {
	const { organizationId, day } = useOrganization();
	const name = nameOfCheck(check);
	const failing = failingDevices(check, day);
	return (
		<TextLink
			to="/o/$org/devices"
			params={{ org: organizationId }}
			search={failing.search}
			c="inherit"
			underline="never"
			className={styles.tile ?? ""}
			visibleFrom="sm"
		>
			<Text fz={12} lh="16px" c="dimmed">
				{name}
			</Text>
			<Group gap={8} wrap="nowrap">
				<Box flex={1}>
					<CheckParts check={check} height={4} />
				</Box>
				<Text
					className="figures"
					fz={12}
					lh="16px"
					fw={600}
					miw={40}
					ta="right"
					style={{ whiteSpace: "nowrap" }}
					title={check.pass_percent === null ? undefined : ROUNDED}
				>
					{check.pass_percent === null ? (
						<>
							<span aria-hidden>–</span>
							<VisuallyHidden>{rateInWords(check)}</VisuallyHidden>
						</>
					) : (
						rateInWords(check)
					)}
					<VisuallyHidden>, {failing.words}</VisuallyHidden>
				</Text>
			</Group>
		</TextLink>
	);
}
