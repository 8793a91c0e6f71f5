import { Alert } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { percentInWords } from "../../parts/percent.ts";
import { PlainText } from "../../parts/plain-text.tsx";
import type { Overview } from "./due-work.tsx";

/** Number of measures that are named before the rest is a link to the list. */
const FEW = 3;

/** Warns about measures that are implemented, as people say, although their device check fails. */
export function ContradictedMeasures({
	measures,
}: {
	measures: Overview["contradicted_measures"];
}) {
	const { organizationId } = useOrganization();
	if (measures.length === 0) return null;
	return (
		<Alert
			color="red"
			variant="outline"
			icon={<IconAlertTriangle aria-hidden />}
			title="Device checks contradict what is implemented"
			py="xs"
		>
			{measures.slice(0, FEW).map((measure) => (
				<PlainText key={measure.id} size="sm">
					<TextLink
						to="/o/$org/r/$kind/$id"
						params={{ org: organizationId, kind: "measure", id: measure.id }}
						underline="always"
						inherit
					>
						{measure.name}
					</TextLink>
					: {foundOf(measure)}
				</PlainText>
			))}
			{measures.length > FEW && (
				<TextLink
					to="/o/$org/r/$kind"
					params={{ org: organizationId, kind: "measure" }}
					search={{ is_contradicted: true }}
					size="sm"
				>
					All contradicted measures
				</TextLink>
			)}
		</Alert>
	);
}

function foundOf({
	check_name,
	check_key,
	pass_percent: percent,
	required_percent: wanted,
}: Overview["contradicted_measures"][number]): string {
	const check = check_name ?? check_key;
	return percent === null
		? `no required device passes “${check}”`
		: `${percentInWords(percent)} of the required devices pass “${check}”, ${wanted}% are wanted`;
}
