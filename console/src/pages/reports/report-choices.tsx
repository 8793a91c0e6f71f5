import { Group, Select, Switch, TextInput } from "@mantine/core";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useOrganization } from "../../organization.ts";
import { isPeriod, PERIODS, type Period } from "./board/periods.ts";
import styles from "./reports.module.css";

const FROM = "/signed-in/o/$org/reports/$report";

/** The choices of a report, which the address keeps. Each is absent if the report does not have it. */
export function Choices({
	day,
	first,
	today,
	frameworks,
	framework,
	period,
	isFromReplica,
}: {
	day: string | undefined;
	/** The first day that the report can show. */
	first: string;
	today: string;
	frameworks:
		| { id: string; name: string; version?: string | null }[]
		| undefined;
	framework: string | undefined;
	period: Period | undefined;
	isFromReplica: boolean | undefined;
}) {
	const navigate = useNavigate();
	const { organizationId: org } = useOrganization();
	const { report } = useParams({ from: FROM });
	const search = useSearch({ from: FROM });
	const choose = (changes: {
		day?: string;
		framework?: string;
		period?: Period;
		from?: "replica" | undefined;
	}) => {
		// Another framework has other versions.
		const { version: _, ...others } = search;
		return navigate({
			to: "/o/$org/reports/$report",
			params: { org, report },
			search: { ...others, ...changes },
			replace: true,
			resetScroll: false,
		});
	};
	const hasReplica = isFromReplica !== undefined;
	if (!day && !frameworks && !period && !hasReplica) return null;
	return (
		<Group mb="lg" className={styles.choices}>
			{frameworks && frameworks.length > 0 && (
				<Select
					label="Framework"
					allowDeselect={false}
					w={320}
					maw="100%"
					data={frameworks.map(({ id, name, version }) => ({
						value: id,
						label: version ? `${name} (${version})` : name,
					}))}
					value={framework ?? null}
					onChange={(id) => id && choose({ framework: id })}
				/>
			)}
			{period && (
				<Select
					label="Compared with"
					allowDeselect={false}
					w={200}
					data={Object.entries(PERIODS).map(([value, { label }]) => ({
						value,
						label,
					}))}
					value={period}
					onChange={(chosen) => isPeriod(chosen) && choose({ period: chosen })}
				/>
			)}
			{day !== undefined && (
				<TextInput
					type="date"
					label="As of the end of"
					min={first}
					max={today}
					value={day}
					onChange={({ currentTarget: { value } }) =>
						value && value <= today && choose({ day: value })
					}
				/>
			)}
			{hasReplica && (
				<Switch
					label="Read from the replica"
					description="Spares the main database. The report says how old its data is."
					checked={isFromReplica}
					onChange={({ currentTarget: { checked } }) =>
						choose({ from: checked ? "replica" : undefined })
					}
				/>
			)}
		</Group>
	);
}
