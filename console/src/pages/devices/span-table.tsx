import { Text } from "@mantine/core";
import { Fragment } from "react";
import { CardTable } from "../../parts/card-table.tsx";
import {
	type Device,
	PostureBadge,
} from "../../parts/devices/device-words.tsx";
import { TextLink } from "../../parts/links.tsx";
import { DateTime } from "../../parts/time.tsx";
import type { Silence, Span } from "./history.ts";

/** Shows the history of a check as a table, newest first. */
export function SpanTable({
	spans,
	silences,
	device,
	name,
}: {
	spans: readonly Span[];
	silences: readonly Silence[];
	device: Device;
	name: string;
}) {
	const silencesIn = ({ since, until }: Span) =>
		silences.filter(
			(silence) =>
				Date.parse(silence.since) >= Date.parse(since) &&
				(!until || Date.parse(silence.since) < Date.parse(until)),
		);
	const report = (id: string, label: string) => (
		<TextLink
			to="/o/$org/devices/$id"
			params={{ org: device.organization_id, id: device.id }}
			search={{ tab: "reports", report: id }}
			size="sm"
		>
			{label}
		</TextLink>
	);
	const untilOf = (span: Span) => (
		<>
			{silencesIn(span).map(({ since, until }) => (
				<Text key={since} size="xs" c="dimmed">
					Silent from <DateTime value={since} />
					{until && (
						<>
							{" "}
							to <DateTime value={until} />
						</>
					)}
				</Text>
			))}
			{span.until ? <DateTime value={span.until} /> : "No change since"}
		</>
	);
	return (
		<CardTable
			label={`Changes: ${name}`}
			minWidth={620}
			columns={["Status", "From", "Last observed", "Until", "Reports"]}
			rows={spans.map((span) => ({
				key: span.since,
				cells: [
					<PostureBadge key="status" status={span.status} isCurrent />,
					<DateTime key="since" value={span.since} />,
					<DateTime key="observed" value={span.last_observed_at} />,
					untilOf(span),
					<Fragment key="reports">
						{report(span.first_report_id, "First")}
						{span.last_report_id !== span.first_report_id && (
							<> · {report(span.last_report_id, "Last")}</>
						)}
					</Fragment>,
				],
			}))}
		/>
	);
}
