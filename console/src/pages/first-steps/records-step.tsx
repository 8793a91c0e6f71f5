import { Button, Group, Radio, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type InputOf, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { StarterList } from "./starter-list.tsx";

type Starters = OutputOf<"listStarters">;
type Framework = InputOf<"addStarters">["framework"];

const NONE = "none";

/** Chooses a framework, or none, and the starter records to take. */
export function RecordsStep({
	isDone,
	onDone,
}: {
	/** True if "Next step" is the action of the page. */
	isDone: boolean;
	onDone: () => unknown;
}) {
	const { organizationId: org } = useOrganization();
	const [chosen, setChosen] = useState<string | null>(null);
	const framework = chosen === NONE ? undefined : (chosen ?? undefined);
	const starters = useQuery(
		operationQuery("listStarters", {
			organization_id: org,
			framework: framework as Framework,
		}),
	);
	if (starters.isError) {
		return <ErrorState error={starters.error} onRetry={starters.refetch} />;
	}
	return (
		<Stack>
			<Radio.Group
				label="Framework"
				description="You can add another one later."
				value={chosen}
				onChange={setChosen}
			>
				<Stack gap="xs" mt="xs">
					<Frameworks found={starters.data?.frameworks} />
					<Radio
						value={NONE}
						label="None for now"
						description="Begin with measures and risks that every organization has."
					/>
				</Stack>
			</Radio.Group>
			{chosen !== null &&
				(starters.data ? (
					<Choice
						key={chosen}
						framework={framework as Framework}
						starters={starters.data}
						isDone={isDone}
						onDone={onDone}
					/>
				) : (
					<RowsSkeleton rows={6} />
				))}
			<Text size="sm" c="dimmed">
				You have lists already?{" "}
				<TextLink
					underline="always"
					to="/o/$org/r/$kind/import"
					params={{ org, kind: "risk" }}
				>
					Import risks
				</TextLink>{" "}
				or other registers from a spreadsheet.
			</Text>
		</Stack>
	);
}

/** The last frameworks that were loaded, because they do not depend on the choice. */
function Frameworks({ found }: { found: Starters["frameworks"] | undefined }) {
	const { organizationId } = useOrganization();
	const { data } = useQuery(
		operationQuery("listStarters", { organization_id: organizationId }),
	);
	const frameworks = found ?? data?.frameworks;
	if (!frameworks) return <RowsSkeleton rows={4} />;
	return frameworks.map(
		({ key, name, version, description, controls, framework_id }) => (
			<Radio
				key={key}
				value={key}
				label={`${name}${version ? ` (${version})` : ""}, ${controls} controls${framework_id ? ", added" : ""}`}
				description={description}
			/>
		),
	);
}

function Choice({
	framework,
	starters,
	isDone,
	onDone,
}: {
	framework: Framework;
	starters: Starters;
	isDone: boolean;
	onDone: () => unknown;
}) {
	const { organizationId } = useOrganization();
	const [controls, setControls] = useState(() =>
		missing(starters.controls).map(({ number }) => number),
	);
	const reasons = reasonsOf(starters);
	const [measures, setMeasures] = useState(() =>
		missing(starters.measures)
			.map(({ key }) => key)
			.filter((key) => reasons.has(key)),
	);
	const [risks, setRisks] = useState(() =>
		missing(starters.risks).map(({ key }) => key),
	);
	const total = controls.length + measures.length + risks.length;
	const adding = useMutation({
		mutationFn: () =>
			call("addStarters", {
				organization_id: organizationId,
				framework,
				...(framework && { controls }),
				measures,
				risks,
			}),
		onSuccess: async ({ added }) => {
			const records = added.controls + added.measures + added.risks;
			notifications.show({
				message: `Added: ${counted(records, "record")} and ${counted(added.links, "link")}.`,
			});
			await forgetReadings();
			onDone();
		},
	});
	return (
		<Stack gap="xs">
			{framework && (
				<StarterList
					title="Controls"
					chosen={controls}
					onChange={setControls}
					starters={starters.controls.map((control) => ({
						key: control.number,
						label: `${control.number} ${control.name}`,
						group: control.section_title,
						isThere: control.is_there,
					}))}
				/>
			)}
			<StarterList
				title="Measures"
				chosen={measures}
				onChange={setMeasures}
				starters={starters.measures.map((measure) => ({
					key: measure.key,
					label: measure.name,
					description: [measure.description, reasons.get(measure.key)]
						.filter(Boolean)
						.join(" "),
					group: measure.category,
					isThere: measure.is_there,
				}))}
			/>
			<StarterList
				title="Risks"
				chosen={risks}
				onChange={setRisks}
				starters={starters.risks.map((risk) => ({
					key: risk.key,
					label: risk.name,
					description: `${risk.description} Likelihood ${risk.inherent_likelihood}, impact ${risk.inherent_impact}.`,
					group: risk.category,
					isThere: risk.is_there,
				}))}
			/>
			{risks.length > 0 && (
				<Text size="sm" c="dimmed">
					The scores are a suggestion. The register and the reports call these
					risks “Not decided” until somebody has decided how to treat them.
				</Text>
			)}
			{adding.isError && (
				<ErrorState error={adding.error} title="Nothing was added" />
			)}
			<Group mt="xs">
				<Button
					variant={isDone ? "default" : "filled"}
					loading={adding.isPending}
					disabled={total === 0}
					onClick={() => adding.mutate()}
				>
					{total === 1 ? "Add 1 record" : `Add ${total} records`}
				</Button>
			</Group>
		</Stack>
	);
}

function missing<One extends { is_there: boolean }>(all: One[]): One[] {
	return all.filter(({ is_there }) => !is_there);
}

/** Most controls that a reason names, and most risks, whose names are long. */
const NAMED = { controls: 4, risks: 1 };

/**
 * Says why a measure is suggested: the framework's controls that it helps with, or without a
 * framework the risks. A measure without a reason is not suggested.
 */
function reasonsOf({ controls, risks }: Starters): Map<string, string> {
	const isFramework = controls.length > 0;
	const helped = isFramework
		? controls.map(({ number, measures }) => ({ name: number, measures }))
		: risks.map(({ name, measures }) => ({ name: `“${name}”`, measures }));
	const named = Map.groupBy(
		helped.flatMap(({ name, measures }) =>
			measures.map((key) => ({ key, name })),
		),
		({ key }) => key,
	);
	const most = isFramework ? NAMED.controls : NAMED.risks;
	return new Map(
		[...named].map(([key, all]) => {
			const names = all.slice(0, most).map(({ name }) => name);
			const more = all.length - names.length;
			return [
				key,
				`${isFramework ? "Helps with" : "Reduces"} ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`,
			];
		}),
	);
}

const counted = (count: number, noun: string) =>
	`${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`;
