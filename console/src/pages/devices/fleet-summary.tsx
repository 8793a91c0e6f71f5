import {
	Box,
	Button,
	Group,
	Paper,
	SimpleGrid,
	Stack,
	Text,
	Title,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import type { OutputOf } from "../../api.ts";
import type { ListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { FRESHNESS, STATUSES } from "../../parts/devices/device-words.tsx";
import {
	Legend,
	PARTS,
	type Part,
	PostureBar,
} from "../../parts/devices/posture-bar.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { operationQuery } from "../../queries.ts";

type Summary = OutputOf<"listPostureSummary">;
type Check = Summary["checks"][number];

export function summaryQuery(organizationId: string) {
	return operationQuery("listPostureSummary", {
		organization_id: organizationId,
	});
}

/** Sums up the fleet above the list. Each number is a link that filters the list. */
export function FleetSummary() {
	const { organizationId } = useOrganization();
	const summary = useQuery({
		...summaryQuery(organizationId),
		refetchInterval: 60_000,
	});
	if (summary.isPending) return <RowsSkeleton rows={3} />;
	if (summary.isError) {
		return <ErrorState error={summary.error} onRetry={summary.refetch} />;
	}
	const { data } = summary;
	return (
		<Paper withBorder p="md" mb="lg" component="section" aria-label="Fleet">
			<Stack gap="md">
				<Group gap="xl" align="flex-start">
					{data.devices_by_freshness && (
						<Counts
							title="Active devices"
							// A device that was never seen is pending, not active.
							counts={{ ...data.devices_by_freshness, NEVER: 0 }}
							words={FRESHNESS}
							searchOf={(freshness) => ({ status: "ACTIVE", freshness })}
						/>
					)}
					<Counts
						title="All devices"
						counts={data.devices_by_status}
						words={STATUSES}
						searchOf={(status) => ({ status })}
					/>
				</Group>
				{data.not_reporting > 0 && (
					<TextLink
						to="/o/$org/devices"
						params={{ org: organizationId }}
						search={{ freshness: "ONLINE", reporting: "NOT_REPORTING" }}
						size="sm"
					>
						{data.not_reporting === 1
							? "1 device sends heartbeats but no reports"
							: `${data.not_reporting.toLocaleString()} devices send heartbeats but no reports`}
					</TextLink>
				)}
				{data.active_devices > 0 && <Checks summary={data} />}
			</Stack>
		</Paper>
	);
}

function Counts<Name extends string>({
	title,
	counts,
	words,
	searchOf,
}: {
	title: string;
	counts: Record<Name, number>;
	words: Record<
		Name,
		{ label: string; tone: Parameters<typeof StatusBadge>[0]["tone"] }
	>;
	searchOf: (name: Name) => ListSearch;
}) {
	const { organizationId } = useOrganization();
	const names = (Object.keys(words) as Name[]).filter(
		// An ACTIVE device has been seen at least once, so a "Never seen" with zero devices would
		// puzzle the reader.
		(name) => name !== "NEVER" || counts[name] > 0,
	);
	return (
		<div>
			<Title order={2} fz="sm" c="dimmed" fw={500} mb={6}>
				{title}
			</Title>
			<Group gap="lg">
				{names.map((name) => (
					<TextLink
						key={name}
						to="/o/$org/devices"
						params={{ org: organizationId }}
						search={searchOf(name)}
						underline="never"
						c="inherit"
					>
						<Text span fz={22} fw={600} display="block" lh={1.2}>
							{counts[name].toLocaleString()}
						</Text>
						<StatusBadge tone={words[name].tone} label={words[name].label} />
					</TextLink>
				))}
			</Group>
		</div>
	);
}

function Checks({ summary }: { summary: Summary }) {
	const [isOpen, { toggle }] = useDisclosure();
	// On a narrow screen the summary is folded, so that the list comes first.
	const whenWide = isOpen ? {} : { visibleFrom: "sm" as const };
	return (
		<div>
			<Button
				hiddenFrom="sm"
				variant="default"
				size="xs"
				aria-expanded={isOpen}
				onClick={toggle}
			>
				Checks of the active devices
			</Button>
			<Box {...whenWide} mt={{ base: "md", sm: 0 }}>
				<Group justify="space-between" align="baseline" mb="xs" gap="xs">
					<Title order={2} fz="sm" c="dimmed" fw={500}>
						Checks of the active devices
					</Title>
					<Legend />
				</Group>
				<SimpleGrid
					cols={{ base: 1, sm: 2, lg: 3 }}
					spacing="lg"
					verticalSpacing="sm"
				>
					{summary.checks.map((check) => (
						<CheckBar key={check.check_key} check={check} />
					))}
				</SimpleGrid>
				<Text size="xs" c="dimmed" mt="sm">
					Percentages count online devices: passed ÷ (passed + failed +
					unknown).
					{summary.omitted_checks > 0 &&
						` ${summary.omitted_checks} less common checks are not shown.`}
				</Text>
			</Box>
		</div>
	);
}

function CheckBar({ check }: { check: Check }) {
	const { organizationId } = useOrganization();
	const name = check.check_name ?? check.check_key;
	return (
		<div>
			<Group justify="space-between" wrap="nowrap" gap="xs" mb={4}>
				<TextLink
					to="/o/$org/devices"
					params={{ org: organizationId }}
					search={{ ...HEARD, failing_check: check.check_key }}
					// At a width of 1280 px, this size leaves room for the longest name of a check.
					fz={13}
					c="inherit"
					truncate
					title={`Devices that fail: ${name}`}
				>
					{name}
				</TextLink>
				<Text size="sm" fw={600} style={{ whiteSpace: "nowrap" }}>
					{check.pass_percent === null
						? "No data"
						: `${check.pass_percent.toLocaleString()}%`}
				</Text>
			</Group>
			<PostureBar counts={check} />
			<Text size="xs" c="dimmed" mt={4}>
				<PartsInWords check={check} name={name} />
			</Text>
		</div>
	);
}

/**
 * Shows, for example, "10 pass · 2 fail · 1 stale". Passes are always shown, and other states only
 * if they are not zero. A state links to its devices if a filter can express it.
 */
function PartsInWords({ check, name }: { check: Check; name: string }) {
	const { organizationId } = useOrganization();
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
						search={{ ...HEARD, [filter]: check.check_key }}
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

/**
 * The filter for devices that are counted as passing, failing or unknown. Devices that are stale or
 * have not reported are counted separately.
 */
const HEARD = {
	status: "ACTIVE",
	freshness: "ONLINE",
	reporting: "REPORTING",
};

const FILTERS: { [P in Part]?: string } = {
	pass: "passing_check",
	fail: "failing_check",
	unknown: "unknown_check",
};
