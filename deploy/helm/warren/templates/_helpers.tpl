{{- define "warren.name" -}}
{{- /* A CronJob's name has 52 characters at most, nine of them for "-archiver". */ -}}
{{- (contains "warren" .Release.Name | ternary .Release.Name (printf "%s-warren" .Release.Name)) | trunc 43 | trimSuffix "-" }}
{{- end }}

{{- define "warren.selector" -}}
app.kubernetes.io/name: warren
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .service }}
{{- end }}

{{- define "warren.labels" -}}
{{ include "warren.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "warren.account" -}}
{{ .Values.serviceAccount.name | default (ternary (include "warren.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{/* warren.toml as JSON: what this chart needs for probes comes first, what somebody sets wins. */}}
{{- define "warren.settings" -}}
{{- if not .Values.settings.clusters }}{{ fail "settings.clusters: name a cluster to watch, as in --set settings.clusters.prod.bootstrap=kafka:9092" }}{{ end -}}
{{- $own := dict "log" (dict "format" "json") "collector" (dict "metrics_port" 9100) "evaluator" (dict "metrics_port" 9100 "data_dir" "/tmp/evaluator") "freshness" (dict "metrics_port" 9100) "notifier" (dict "metrics_port" 9100) "archiver" (dict "metrics_port" 9100 "path" "/var/lib/warren/lake") "api" (dict "host" "0.0.0.0" "port" 8000 "without_token" "read" "trusted_hosts" (include "warren.hosts" . | fromJsonArray)) -}}
{{ mergeOverwrite $own (deepCopy .Values.settings) | toJson }}
{{- end }}

{{/* Where a service answers: `root`, `service`. */}}
{{- define "warren.port" -}}
{{ index (include "warren.settings" .root | fromJson) .service (eq .service "api" | ternary "port" "metrics_port") }}
{{- end }}

{{- define "warren.scheme" -}}
{{ and (eq .service "api") (ne "" (include "warren.settings" .root | fromJson | dig "api" "tls_certificate" "")) | ternary "HTTPS" "HTTP" }}
{{- end }}

{{- define "warren.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "warren.name" .root }}-{{ .service }}
  labels: {{ include "warren.labels" . | nindent 4 }}
  {{- with .annotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  selector: {{ include "warren.selector" . | nindent 4 }}
  ports:
    - {name: {{ include "warren.scheme" . | lower }}, port: {{ .port | default 9100 }}, targetPort: http}
{{- end }}

{{/* Names under which people and services reach the API: pages of other sites have others. */}}
{{- define "warren.hosts" -}}
{{- $api := printf "%s-api" (include "warren.name" .) -}}
{{- $hosts := list "localhost" "127.0.0.1" $api (printf "%s.%s" $api .Release.Namespace) (printf "%s.%s.svc" $api .Release.Namespace) (printf "%s.%s.svc.cluster.local" $api .Release.Namespace) -}}
{{- if .Values.ingress.enabled }}{{ $hosts = append $hosts .Values.ingress.host }}{{ end -}}
{{- if .Values.httpRoute.enabled }}{{ $hosts = concat $hosts .Values.httpRoute.hostnames }}{{ end -}}
{{ $hosts | toJson }}
{{- end }}

{{- define "warren.pod" -}}
{{- $values := index .root.Values .service -}}
metadata:
  labels:
    {{- include "warren.labels" . | nindent 4 }}
    {{- with .root.Values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    checksum/settings: {{ include "warren.settings" .root | sha256sum }}
    {{- with .root.Values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include "warren.account" .root }}
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
  {{- with .root.Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- if and .root.Values.topologySpread (ne .service "archiver") }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{ include "warren.selector" . | nindent 10 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: {type: RuntimeDefault}
  {{- if eq (.restart | default "") "Never" }}
  restartPolicy: Never
  {{- end }}
  containers:
    - name: {{ .service }}
      image: "{{ with .root.Values.image.registry }}{{ . }}/{{ end }}warren-{{ .service }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ .args | toJson }}
      env:
        - {name: WARREN_CONFIG, value: /etc/warren/warren.toml}
        {{- with .root.Values.env }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- if not (eq (.restart | default "") "Never") }}
      ports:
        - {name: http, containerPort: {{ include "warren.port" . }}}
      # Alive while the process answers; ready while it can work. A monitored cluster that is away is no reason to be neither.
      startupProbe:
        httpGet: {path: {{ eq .service "api" | ternary "/burrow/admin" "/live" }}, port: http, scheme: {{ include "warren.scheme" . }}}
        periodSeconds: 5
        failureThreshold: 60
      livenessProbe:
        httpGet: {path: {{ eq .service "api" | ternary "/burrow/admin" "/live" }}, port: http, scheme: {{ include "warren.scheme" . }}}
        periodSeconds: 20
        timeoutSeconds: 10
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: {{ eq .service "api" | ternary "/burrow/admin/ready" "/ready" }}, port: http, scheme: {{ include "warren.scheme" . }}}
        periodSeconds: 10
        timeoutSeconds: 5
      {{- end }}
      resources: {{ toYaml $values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: settings, mountPath: /etc/warren, readOnly: true}
        - {name: tmp, mountPath: /tmp}
        {{- range $number, $_ := .root.Values.secrets }}
        - {name: secret-{{ $number }}, mountPath: {{ printf "/etc/warren-secrets/%s" . }}, readOnly: true}
        {{- end }}
        {{- if eq .service "archiver" }}
        - {name: lake, mountPath: /var/lib/warren/lake}
        {{- end }}
  volumes:
    - name: settings
      secret: {secretName: {{ include "warren.name" .root }}-settings}
    - name: tmp
      emptyDir: {}
    {{- range $number, $name := .root.Values.secrets }}
    - name: secret-{{ $number }}
      secret: {secretName: {{ $name }}}
    {{- end }}
    {{- if eq .service "archiver" }}
    - name: lake
      persistentVolumeClaim: {claimName: {{ $values.storage.existingClaim | default (printf "%s-lake" (include "warren.name" .root)) }}}
    {{- end }}
{{- end }}
