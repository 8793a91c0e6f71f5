import { Group, Paper, Text, Title } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { StateBar } from "../../parts/devices/state-bar.tsx";
import { StatesInWords } from "../../parts/devices/states-in-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { percentInWords, ROUNDED } from "../../parts/percent.ts";
import { RelativeTime } from "../../parts/time.tsx";
import { usePast } from "../../past.ts";
import { operationQuery } from "../../queries.ts";
import styles from "./check-results.module.css";
import { type Day, PassHistory } from "./pass-history.tsx";

type Result = OutputOf<"getCheckResults">["checks"][number];

const HISTORY_DAYS = 90;
const EVERY_MS = 60_000;

/** Largest number of checks for which the service is asked at once. */
const MAX_CHECKS = 20;

/**
 * Shows how many devices pass these checks now, and how that changed in the last months. On a past
 * day it says that it cannot. Shows nothing without a check.
 */
export function CheckResults({
	checks,
	wanted,
	badge,
	children,
}: {
	/** Keys of the checks. */
	checks: readonly string[];
	/** The share of devices that a measure wants to pass, in percent. */
	wanted?: number;
	/** Summary of the results for this record. */
	badge?: ReactNode;
	/** Says what the checks have to do with the page. */
	children: ReactNode;
}) {
	const { organizationId } = useOrganization();
	const { day, isShown } = usePast();
	const isPast = day !== undefined && isShown;
	const found = useQuery({
		...operationQuery("getCheckResults", {
			organization_id: organizationId,
			check_keys: checks.slice(0, MAX_CHECKS),
			history_days: HISTORY_DAYS,
		}),
		enabled: checks.length > 0 && !isPast,
		refetchInterval: EVERY_MS,
		placeholderData: keepPreviousData,
	});
	if (checks.length === 0) return null;
	if (isPast) {
		return (
			<Paper withBorder p="lg" component="section" aria-label="Device checks">
				<Title order={2} mb={4}>
					Device checks
				</Title>
				<Text size="sm">
					This section knows only the present, and the page shows a past day.{" "}
					<TextLink to="/o/$org/devices" params={{ org: organizationId }}>
						Devices
					</TextLink>{" "}
					shows the fleet of that day.
				</Text>
			</Paper>
		);
	}
	return (
		<Paper withBorder p="lg" component="section" aria-label="Device checks">
			<Group justify="space-between" align="baseline" mb={4}>
				<Group gap="sm">
					<Title order={2}>Device checks</Title>
					{badge}
				</Group>
				{found.data?.counted_at && (
					<Text size="sm" c="dimmed">
						Counted <RelativeTime value={found.data.counted_at} />
					</Text>
				)}
			</Group>
			<Text size="sm" c="dimmed" mb="sm">
				{children} {ROUNDED}
			</Text>
			{found.isError ? (
				<ErrorState error={found.error} onRetry={found.refetch} />
			) : !found.data ? (
				<RowsSkeleton rows={2} />
			) : (
				<>
					{found.data.counted_at === null && (
						<Text size="sm" mb="sm">
							The devices have not been counted within a day, so nothing is
							known about the present.
						</Text>
					)}
					<ul className={styles.rows}>
						{found.data.checks.map((check) => (
							<CheckRow
								key={check.check_key}
								check={check}
								wanted={wanted}
								days={found.data.history.filter(
									({ check_key }) => check_key === check.check_key,
								)}
							/>
						))}
					</ul>
				</>
			)}
		</Paper>
	);
}

function CheckRow({
	check,
	days,
	wanted,
}: {
	check: Result;
	days: readonly Day[];
	wanted: number | undefined;
}) {
	const name = check.check_name ?? check.check_key;
	const { pass_percent: percent, required_devices: devices } = check;
	return (
		<li className={styles.row}>
			<div>
				<Group justify="space-between" gap="xs" mb={6}>
					<Text fw={500} style={{ overflowWrap: "anywhere" }}>
						{name}
					</Text>
					<Text fw={600}>
						{percent === null ? "No data" : `${percentInWords(percent)} pass`}
					</Text>
				</Group>
				<StateBar states={check.states} height={12} />
				<Text size="sm" c="dimmed" mt={6}>
					{devices === 0 ? (
						"The device policy requires it of no active device."
					) : (
						<StatesInWords check={check} />
					)}
				</Text>
			</div>
			<PassHistory name={name} days={days} wanted={wanted} />
		</li>
	);
}
