#!/bin/sh
# Run when Elasticsearch is up, and again when .env changed: Kibana's own account gets its password,
# the app a user that reaches the indices of esrag alone, and people one that reads them and may do
# everything in Kibana.
set -eu

put() { # PATH BODY
    curl --silent --show-error --fail-with-body --max-time 20 --retry 10 --retry-connrefused --user "elastic:$ELASTIC_PASSWORD" \
        --request PUT --header 'Content-Type: application/json' --data "$2" "$ELASTICSEARCH_URL/_security/$1"
    echo
}

for secret in "$ELASTIC_PASSWORD" "$KIBANA_SYSTEM_PASSWORD" "$APP_PASSWORD" "$VIEWER_PASSWORD"; do
    case $secret in *[!A-Za-z0-9]* | '')
        echo 'a password in .env must be letters and digits, as "make env" writes them' >&2
        exit 1
        ;;
    esac
done

put user/kibana_system/_password '{"password": "'"$KIBANA_SYSTEM_PASSWORD"'"}'
put role/esrag '{
    "cluster": ["monitor"],
    "indices": [{"names": ["esrag", "esrag-*"], "privileges": ["manage", "read", "write"]}]
}'
put role/esrag_viewer '{
    "indices": [{"names": ["esrag", "esrag-*"], "privileges": ["read", "view_index_metadata"]}]
}'
put user/esrag '{"password": "'"$APP_PASSWORD"'", "roles": ["esrag"]}'
put user/esrag_viewer '{"password": "'"$VIEWER_PASSWORD"'", "roles": ["esrag_viewer", "kibana_admin"]}'
