{{- define "hlust.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "hlust.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "hlust.labels" -}}
{{ include "hlust.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "hlust.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* Refuses values that cannot work together, with the name of the value. */}}
{{- define "hlust.check" -}}
{{- if eq .Values.mode "cluster" -}}
{{- if not .Values.database.secretName }}{{ fail "database.secretName is required with mode: cluster" }}{{ end -}}
{{- if not .Values.s3.bucket }}{{ fail "s3.bucket is required with mode: cluster" }}{{ end -}}
{{- if not .Values.publicUrl }}{{ fail "publicUrl is required with mode: cluster" }}{{ end -}}
{{- end -}}
{{- if .Values.engine.enabled -}}
{{- if ne .Values.mode "cluster" }}{{ fail "engine.enabled needs mode: cluster" }}{{ end -}}
{{- if not .Values.engine.credentialSecretName }}{{ fail "engine.credentialSecretName is required with engine.enabled" }}{{ end -}}
{{- end -}}
{{- if .Values.mail.secretName -}}
{{- if not .Values.mail.from }}{{ fail "mail.from is required with mail.secretName" }}{{ end -}}
{{- if not .Values.publicUrl }}{{ fail "publicUrl is required with mail.secretName: links in mail begin with it" }}{{ end -}}
{{- else if .Values.mail.from }}{{ fail "mail.secretName is required with mail.from" }}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}{{ fail "ingress.host is required with ingress.enabled" }}{{ end -}}
{{- if and (or (eq .Values.api.autoscaling.kind "keda") (eq .Values.worker.autoscaling.kind "keda")) (not .Values.prometheusUrl) }}{{ fail "prometheusUrl is required for autoscaling with keda" }}{{ end -}}
{{- end -}}

{{- define "hlust.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: {{ .Values.seccomp.type }}
  {{- if eq .Values.seccomp.type "Localhost" }}
  localhostProfile: {{ required "seccomp.localhostProfile is required with type Localhost" .Values.seccomp.localhostProfile }}
  {{- end }}
{{- with .Values.appArmor }}
{{- if .type }}
appArmorProfile:
  type: {{ .type }}
  {{- if eq .type "Localhost" }}
  localhostProfile: {{ required "appArmor.localhostProfile is required with type Localhost" .localhostProfile }}
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "hlust.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "hlust.metricsEnv" -}}
{{- if .Values.metrics.enabled }}
- name: HLUST_METRICS_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ .Values.metrics.tokenSecretName }}
      key: token
{{- end }}
{{- end -}}

{{/* The environment of a container. Settings that all pods share are in the ConfigMap. */}}
{{- define "hlust.env" -}}
{{- include "hlust.metricsEnv" . }}
{{- if .Values.database.secretName }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.secretName }}
      key: {{ .Values.database.secretKey }}
{{- end }}
{{- if .Values.s3.secretName }}
- name: S3_ACCESS_KEY_ID
  valueFrom:
    secretKeyRef:
      name: {{ .Values.s3.secretName }}
      key: accessKeyId
- name: S3_SECRET_ACCESS_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.s3.secretName }}
      key: secretAccessKey
{{- end }}
{{- if .Values.mail.secretName }}
- name: HLUST_SMTP_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.mail.secretName }}
      key: {{ .Values.mail.secretKey }}
- name: HLUST_MAIL_FROM
  value: {{ .Values.mail.from | quote }}
- name: HLUST_MAILS_PER_DAY
  value: {{ .Values.mail.perDay | quote }}
{{- end }}
{{- end -}}

{{/* How pods with engines, and those that use them, find and trust each other. */}}
{{- define "hlust.engineEnv" -}}
- name: HLUST_ENGINE_CREDENTIAL
  valueFrom:
    secretKeyRef:
      name: {{ .root.Values.engine.credentialSecretName }}
      key: credential
{{- if ne .component "engine" }}
- name: HLUST_ENGINES
  value: {{ include "hlust.name" .root }}-engine:8090
{{- end }}
{{- end -}}

{{- define "hlust.envFrom" -}}
- configMapRef:
    name: {{ include "hlust.name" . }}
{{- range .Values.settingsSecrets }}
- secretRef:
    name: {{ . }}
{{- end }}
{{- end -}}

{{- define "hlust.ports" -}}
- name: http
  containerPort: 8080
{{- if .Values.metrics.enabled }}
- name: metrics
  containerPort: {{ .Values.metrics.port }}
{{- end }}
{{- end -}}

{{/* Ten minutes for migrations, then a process that does not answer is restarted. Readiness never
     depends on the bucket, whose absence a restart does not mend. */}}
{{- define "hlust.probes" -}}
startupProbe:
  httpGet: { path: /startupz, port: http }
  periodSeconds: 5
  failureThreshold: 120
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: "/readyz?for={{ .part }}", port: http }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}

{{- define "hlust.podMetadata" -}}
annotations:
  checksum/config: {{ include (print .Template.BasePath "/configmap.yaml") . | sha256sum }}
  {{- with .Values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "hlust.pod" -}}
serviceAccountName: {{ include "hlust.name" . }}
automountServiceAccountToken: false
# A Service of this name would set HLUST_PORT and others, which are no settings.
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- include "hlust.podSecurity" . | nindent 2 }}
{{- end -}}

{{/* Keeps the pods of a component on different machines and zones where that is possible. */}}
{{- define "hlust.spread" -}}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "hlust.selector" $.root | nindent 8 }}
        app.kubernetes.io/component: {{ $.component }}
  {{- end }}
{{- end -}}

{{- define "hlust.mounts" -}}
- name: data
  mountPath: /var/lib/hlust
- name: tmp
  mountPath: /tmp
{{- if .Values.models.existingClaim }}
- name: models
  mountPath: /models
  readOnly: true
{{- end }}
{{- end -}}

{{- define "hlust.volumes" -}}
- name: tmp
  emptyDir: {}
{{- if .Values.models.existingClaim }}
- name: models
  persistentVolumeClaim:
    claimName: {{ .Values.models.existingClaim }}
    readOnly: true
{{- end }}
{{- end -}}
