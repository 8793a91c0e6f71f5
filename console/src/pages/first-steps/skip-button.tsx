import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { sentenceOf } from "../../parts/error-state.tsx";
import { showFailure } from "../../parts/show-failure.ts";
import { forgetReadings } from "../../queries.ts";
import type { Step } from "./use-first-steps.ts";

/** Leaves a step out for all administrators, or takes it up again. */
export function SkipButton({
	step,
	size,
	onSkipped,
}: {
	step: Step;
	size?: string;
	onSkipped?: () => unknown;
}) {
	const { organization, mayAdmin } = useOrganization();
	const saving = useMutation({
		mutationFn: () =>
			call("updateOrganizationSettings", {
				organization_id: organization.id,
				skipped_steps: step.isSkipped
					? organization.skipped_steps.filter((key) => key !== step.key)
					: [...organization.skipped_steps, step.key],
			}),
		onSuccess: async () => {
			await forgetReadings();
			if (!step.isSkipped) onSkipped?.();
		},
		onError: (error) =>
			showFailure("The step was not changed", sentenceOf(error)),
	});
	if (!mayAdmin) return null;
	const label = step.isSkipped ? "Take up again" : "Skip this step";
	return (
		<Button
			variant="default"
			{...(size !== undefined && { size })}
			{...(step.isSkipped && { "aria-label": `${label}: ${step.title}` })}
			loading={saving.isPending}
			onClick={() => saving.mutate()}
		>
			{label}
		</Button>
	);
}
